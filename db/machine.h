// Facts of a machine: kinds of cores, caches, and its roofline, measured once and stored.
//
// The roofline is a set of facts, keys of db/meta.h that begin with "roof.": the peak rates of the processors
// and the memory. `pitwall env --calibrate` measures and stores it, by processor model, in
// $XDG_CACHE_HOME/pitwall (~/.cache/pitwall); later recordings on the machine include it. The file is text
// with one line "KEY NUMBER" per fact.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "db/result.h"

namespace pitwall {

using MachineFacts = std::map<std::string, std::string>;

// Number of kinds of cores, such as performance and efficiency cores: 1 when all are alike, 0 when unknown.
// `root` is "/" except in tests.
int coreKinds(const std::string& root = "/");

// Facts of recordings: bytes of the data caches that CPU 0 uses; each is left out when unknown. A level 2
// cache usually belongs to one core, a level 3 cache to several.
namespace meta {
inline constexpr char kL1CacheBytes[] = "host.l1_cache_bytes";
inline constexpr char kL2CacheBytes[] = "host.l2_cache_bytes";
inline constexpr char kL3CacheBytes[] = "host.l3_cache_bytes";
}  // namespace meta
MachineFacts cacheFacts(const std::string& root = "/");

// The processor's name as the kernel reports it ("model name" in /proc/cpuinfo); "" when unknown.
std::string cpuModel(const std::string& root = "/");

// Pitwall's cache folder: $XDG_CACHE_HOME/pitwall, or ~/.cache/pitwall; "" when neither variable is an
// absolute path.
std::string cacheFolder();

// The file of the roofline of a processor model, in cacheFolder(); "" when there is no such folder. An
// unknown model has a file too.
std::string rooflinePath(std::string_view cpu_model);

// The stored roofline; empty when none was measured or it cannot be read. Lines that do not belong to a
// roofline are ignored.
MachineFacts readRoofline(const std::string& path);

// Replaces the stored roofline; creates the folder. Errors: io, naming the file.
Status saveRoofline(const std::string& path, const MachineFacts& roofline);

}  // namespace pitwall
