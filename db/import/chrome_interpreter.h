// What the events of a Chrome Trace Event file mean: phases, pairing, counters, arrows; and, where the file
// is one of theirs, the conventions of PyTorch's and MXNet's profilers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/import/builder.h"
#include "db/import/chrome_event.h"
#include "db/import/kineto.h"
#include "db/import/mxnet.h"
#include "db/import/window.h"

namespace pitwall::import {

// Where an event lies, for messages; costs nothing until asked.
struct Place {
  const Window& window;
  std::size_t ahead;
  std::string_view raw;
  std::string text() const;
};

class ChromeInterpreter {
 public:
  explicit ChromeInterpreter(Builder& builder) : builder_(builder), kineto_(builder), mxnet_(builder) {}

  // A member of the document besides traceEvents; `value` may be of type none when it was too long to keep.
  void documentMember(std::string_view key, const JsonValue& value);
  void event(const ChromeEvent& event, const Place& place);
  void end();

 private:
  struct Open {
    std::string name;
    std::int64_t start_ns = 0;
    EventKind kind = EventKind::scope;
    TrackRef track;
  };
  using OpenStacks = std::unordered_map<std::string, std::vector<Open>>;

  void count(const ChromeEvent& event);
  void metadata(const ChromeEvent& event);
  void complete(const ChromeEvent& event, const Place& place);
  void begin(const ChromeEvent& event, const Place& place);
  void endRange(const ChromeEvent& event, const Place& place);
  void async(const ChromeEvent& event, const Place& place);
  void instant(const ChromeEvent& event, const Place& place);
  void counter(const ChromeEvent& event, const Place& place);
  void flow(const ChromeEvent& event, const Place& place);
  void metric(const ChromeEvent& event, const Place& place);
  void close(Open& open, std::int64_t end_ns);
  // The event's time; counts and tells when there is none.
  std::optional<std::int64_t> timeOf(const ChromeEvent& event, const Place& place);
  std::string asyncKey(const ChromeEvent& event) const;  // empty: the event has no id
  TrackRef asyncLane(const ChromeEvent& event);
  ProcessRef processOf(const ChromeEvent& event);
  TrackRef threadOf(const ChromeEvent& event);
  std::string nameOf(const ChromeEvent& event) const;

  Builder& builder_;
  Kineto kineto_;
  MxNet mxnet_;
  std::unordered_map<std::size_t, std::vector<Open>> open_;  // by track
  OpenStacks open_async_;
  std::int64_t* phases_[256] = {};
  bool samples_seen_ = false;
  bool events_seen_ = false;
};

}  // namespace pitwall::import
