// Names and operator facts that records refer to by number. Registered once, by any thread, under a lock; the
// drain reads them under the same lock.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "db/event.h"
#include "runtime/profiler.h"

namespace pitwall::profiler {

struct Site {
  std::string name;
  EventKind kind = EventKind::scope;
};

struct FactsHash {
  std::size_t operator()(const OperatorFacts& facts) const noexcept;
};

class Identities {
 public:
  SiteId site(std::string_view name, EventKind kind);
  OperatorId facts(const OperatorFacts& facts);

  // Copies; a default one for an unknown id.
  Site site(SiteId id) const;
  OperatorFacts facts(OperatorId id) const;

  std::mutex& mutex() { return mutex_; }  // fork() holds it

 private:
  mutable std::mutex mutex_;
  std::deque<Site> sites_;  // index = id - 1
  std::map<std::pair<std::string, EventKind>, SiteId> site_ids_;
  std::deque<OperatorFacts> facts_;  // index = id - 1
  std::unordered_map<OperatorFacts, OperatorId, FactsHash> facts_ids_;
};

}  // namespace pitwall::profiler
