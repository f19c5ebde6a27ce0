// What a machine is beyond what its kernel counts: kinds of cores, and its roof, measured once and kept.
//
// The roof is a set of facts, keys of db/meta.h that begin with "roof.": what the processors and the memory
// can do at most. `pitwall env --calibrate` measures and keeps it, by processor model, in
// $XDG_CACHE_HOME/pitwall (~/.cache/pitwall); recordings made on the machine carry it from then on. The file
// is text, a line "KEY NUMBER" each.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "db/result.h"

namespace pitwall {

using MachineFacts = std::map<std::string, std::string>;

// Kinds of cores, as performance and efficiency cores: 1 when all are alike, 0 when the kernel does not tell.
// `root` is "/" but in tests.
int coreKinds(const std::string& root = "/");

// Facts of recordings: bytes of the caches that CPU 0 uses, for its data; each is left out when unknown.
// Those of level 2 belong to one core as a rule, those of level 3 to several.
namespace meta {
inline constexpr char kL1CacheBytes[] = "host.l1_cache_bytes";
inline constexpr char kL2CacheBytes[] = "host.l2_cache_bytes";
inline constexpr char kL3CacheBytes[] = "host.l3_cache_bytes";
}  // namespace meta
MachineFacts cacheFacts(const std::string& root = "/");

// The processor's name as the kernel tells it ("model name" in /proc/cpuinfo); "" when it does not.
std::string cpuModel(const std::string& root = "/");

// Where Pitwall keeps what it may lose: $XDG_CACHE_HOME/pitwall, or ~/.cache/pitwall; "" when neither
// variable is an absolute path.
std::string cacheFolder();

// Where the roof of a processor model is kept, in cacheFolder(); "" when there is none. A model that is not
// known has a place too.
std::string roofPath(std::string_view cpu_model);

// The kept roof; empty when none was measured or it cannot be read. Lines that are not of a roof are left
// out.
MachineFacts readRoof(const std::string& path);

// Replaces the kept roof as a whole; makes the folder. Errors: io, naming the file.
Status keepRoof(const std::string& path, const MachineFacts& roof);

}  // namespace pitwall
