// Names and operator facts that records refer to by number. Registered once, by any thread, under a lock; the
// drain reads them under the same lock.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "db/event.h"
#include "db/mutex.h"
#include "db/ring_decoder.h"
#include "runtime/profiler.h"
#include "runtime/profiler/ring_file.h"

namespace pitwall::profiler {

struct Site {
  std::string name;
  EventKind kind = EventKind::scope;
  std::string args;  // see ring::SiteFacts
  friend bool operator==(const Site&, const Site&) = default;
};

struct SiteHash {
  std::size_t operator()(const Site& site) const noexcept;
};
struct FactsHash {
  std::size_t operator()(const OperatorFacts& facts) const noexcept;
};

class Identities : public ring::NameSource {
 public:
  SiteId add(const Site& site);
  OperatorId add(const OperatorFacts& facts);

  // Copies; a default one for an unknown id.
  ring::SiteFacts site(std::uint32_t id) const override;
  OperatorFacts facts(std::uint32_t id) const override;

  // From now on names are also written to `file` (nullptr: no longer), existing ones immediately.
  void keepIn(RingFile* file);

  Mutex& mutex() PITWALL_RETURN_CAPABILITY(mutex_) { return mutex_; }  // fork() holds it
  void leaveFileInChild() PITWALL_REQUIRES(mutex_) { file_ = nullptr; }

 private:
  mutable Mutex mutex_;
  RingFile* file_ PITWALL_GUARDED_BY(mutex_) = nullptr;
  std::deque<Site> sites_ PITWALL_GUARDED_BY(mutex_);  // index = id - 1
  std::unordered_map<Site, SiteId, SiteHash> site_ids_ PITWALL_GUARDED_BY(mutex_);
  std::deque<OperatorFacts> facts_ PITWALL_GUARDED_BY(mutex_);  // index = id - 1
  std::unordered_map<OperatorFacts, OperatorId, FactsHash> facts_ids_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall::profiler
