// What MXNet's profiler means by its events: every operator is written twice, process ids are hashes of
// categories, thread ids hashes of threads, and the processes named cpu/0, gpu/0 are devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/builder.h"
#include "db/import/chrome_event.h"

namespace pitwall::import {

class MxNet {
 public:
  explicit MxNet(Builder& builder) : builder_(builder) {}

  // Looks at every event until the first that tells; `metadata_name` is a process_name's args.name.
  void notice(const ChromeEvent& event, std::string_view metadata_name);
  bool seen() const { return seen_; }

  // The second writing of an operator, to be left out.
  bool isTwin(const ChromeEvent& event) const;
  TrackRef threadOf(const ChromeEvent& event);
  ProcessRef process() { return builder_.process("mxnet"); }
  static EventKind kindOf(std::string_view category, std::string_view name);
  OperatorId factsOf(std::string_view name);
  TrackRef counter(const ChromeEvent& event, std::string_view name);

 private:
  Builder& builder_;
  bool seen_ = false;
  std::unordered_map<std::string, std::string> devices_;  // pid -> "gpu/0"
};

}  // namespace pitwall::import
