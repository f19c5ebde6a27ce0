// Interprets the events of MXNet's profiler: every operator is written twice, process ids are hashes of
// categories, thread ids hashes of threads, and the processes named cpu/0, gpu/0 are devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/build/builder.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/input/recent_texts.h"

namespace pitwall::import {

// The kind of the events of a category.
enum class MxNetRole : std::uint8_t { none, operation, call, storage };
MxNetRole mxNetRoleOf(std::string_view category);

class MxNet {
 public:
  explicit MxNet(Builder& builder) : builder_(builder) {}

  // Called for every event; `metadata_name` is a process_name's args.name.
  void notice(MxNetRole role) {
    if (role == MxNetRole::call || role == MxNetRole::storage) seen_ = true;
  }
  void addProcess(const ChromeEvent& event, std::string_view metadata_name);
  bool seen() const { return seen_; }

  // The second event of an operator, to be left out.
  bool isTwin(MxNetRole role, char ph) const {
    return seen_ && role == MxNetRole::operation && (ph == 'b' || ph == 'e');
  }
  TrackRef threadOf(MxNetRole role, const ChromeEvent& event);
  ProcessRef process() { return builder_.tracks().process("mxnet"); }
  static EventKind kindOf(MxNetRole role, std::string_view name);
  // Called for every range that begins.
  void noticeCall(MxNetRole role, std::string_view name);
  static OperatorFacts describe(std::string_view operation);
  // From its name and from the arguments that Pitwall's own writers add.
  OperatorId factsOf(StringId id, std::string_view name, const ChromeEvent& event);
  TrackRef counter(MxNetRole role, const ChromeEvent& event, std::string_view name);

 private:
  Builder& builder_;
  bool seen_ = false;
  std::unordered_map<std::string, std::string> devices_;  // pid -> "gpu/0"
  RecentTexts<TrackRef> threads_;
  RecentTexts<TrackRef> counters_;
  RecentTexts<OperatorId> operators_;
};

}  // namespace pitwall::import
