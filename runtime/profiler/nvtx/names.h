// Names in NVTX programs: domains, categories, registered strings; and the recorder's site for each
// combination of name, domain, category, colour and payload of an event.
//
// Domains and strings live as long as the process: programs keep their handles. Sites belong to one profiler,
// and a forked child has a new one; a generation number identifies it, so that stale cache entries are
// recognised.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
#include "runtime/profiler.h"

namespace pitwall::nvtx {

struct Domain {
  std::string name;
  bool recorded = true;
  std::map<std::uint32_t, std::string> categories;  // guarded by the mutex of the Names
};

struct RegisteredString {
  std::string text;
  Domain* domain = nullptr;
  // The site of events with only this name: generation in the upper half, site in the lower; 0 = not known
  // yet.
  mutable std::atomic<std::uint64_t> site{0};
};

// The attributes of an event except its times and id.
struct Look {
  const Domain* domain = nullptr;
  std::uint32_t category = 0;
  std::uint32_t color = 0;  // ARGB; 0 = none
  std::string_view text;
  std::string_view payload;  // members of a JSON object, without braces; may be empty
};

class Names {
 public:
  // `only`: names of the domains to record, separated by commas; empty = all. The default domain is called
  // "default".
  explicit Names(std::string_view only = {});

  Domain& defaultDomain() { return *default_; }
  Domain& domain(std::string_view name);  // equal names, one domain
  void nameCategory(Domain& domain, std::uint32_t category, std::string_view name);
  RegisteredString& registerString(Domain& domain, std::string_view text);

  // From now on sites are those of `profiler`.
  void use(Profiler& profiler);
  std::uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }

  SiteId site(const Look& look);
  // Name and arguments (members of a JSON object) of a site from site().
  struct SiteText {
    std::string name;
    std::string args;
  };
  SiteText textOf(SiteId site) const;

  // A permanent copy of the text.
  const char* keep(std::string_view text);

  std::uint64_t payloadsDropped() const { return payloads_dropped_.load(std::memory_order_relaxed); }

  Mutex& mutex() PITWALL_RETURN_CAPABILITY(mutex_) { return mutex_; }  // fork() holds it

 private:
  std::string argumentsOf(const Look& look) const PITWALL_REQUIRES(mutex_);

  const std::vector<std::string> only_;
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint64_t> payloads_dropped_{0};
  Domain* default_ = nullptr;  // constant after construction
  mutable Mutex mutex_;
  Profiler* profiler_ PITWALL_GUARDED_BY(mutex_) = nullptr;
  std::deque<Domain> domains_ PITWALL_GUARDED_BY(mutex_);
  std::deque<RegisteredString> strings_ PITWALL_GUARDED_BY(mutex_);
  std::map<std::pair<const Domain*, std::string>, RegisteredString*> by_text_ PITWALL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, SiteId> sites_ PITWALL_GUARDED_BY(mutex_);  // by name, kind of arguments
  std::unordered_map<std::uint32_t, SiteText> site_texts_ PITWALL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, bool> kept_ PITWALL_GUARDED_BY(mutex_);
  std::size_t with_payload_ PITWALL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pitwall::nvtx
