// Interprets the events of a Chrome Trace Event file: phases, pairing, counters, arrows; and, for their
// files, the conventions of PyTorch's and MXNet's profilers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/import/build/builder.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/input/recent_texts.h"
#include "db/import/input/window.h"
#include "db/import/kineto/kineto.h"
#include "db/import/mxnet/mxnet.h"
#include "db/import/pitwall/own_json.h"

namespace pitwall::import {

// The position of an event, for messages; computed only when needed.
struct Place {
  const Window& window;
  std::size_t ahead;
  std::string_view raw;
  std::string text() const;
  std::string operator()() const { return text(); }
};

class ChromeInterpreter {
 public:
  explicit ChromeInterpreter(Builder& builder)
      : builder_(builder), kineto_(builder), mxnet_(builder), own_(builder) {}

  // A member of the document besides traceEvents; `value` may be of type none when it was too long to keep.
  void documentMember(std::string_view key, const JsonValue& value);
  void event(const ChromeEvent& event, const Place& place);
  void end();

 private:
  struct Open {
    std::int64_t start_ns = 0;
    TrackRef track;
    StringId name;
    OperatorId op = {};
    StringId args = {};
    bool has_arguments = false;  // given at its begin
    EventKind kind = EventKind::scope;
  };
  // The meaning of a category's text, determined once.
  struct Category {
    std::int64_t* count = nullptr;
    KinetoRole kineto = KinetoRole::none;
    MxNetRole mxnet = MxNetRole::none;
    StringId args;  // {"category":...}, where the kind of event does not imply it
  };
  // Counters of what happens to many events of some files.
  struct Tallies {
    ImportCount* twins = nullptr;
    ImportCount* args = nullptr;
    ImportCount* open = nullptr;
  };

  void count(const ChromeEvent& event);
  const Category& categoryOf(const ChromeEvent& event);
  void metadata(const ChromeEvent& event);
  void complete(const ChromeEvent& event, const Category& category, const Place& place);
  void begin(const ChromeEvent& event, const Category& category, const Place& place);
  void endRange(const ChromeEvent& event, const Category& category, const Place& place);
  void async(const ChromeEvent& event, const Category& category, const Place& place);
  void instant(const ChromeEvent& event, const Category& category, const Place& place);
  void counter(const ChromeEvent& event, const Category& category, const Place& place);
  void flow(const ChromeEvent& event, const Category& category, const Place& place);
  void metric(const ChromeEvent& event, const Place& place);
  bool mayOpen(const Place& place);
  Open opened(const ChromeEvent& event, const Category& category, std::int64_t start_ns, TrackRef track,
              const Place& place);
  void close(const Open& open, std::int64_t end_ns);
  // The event's time; counts the event when there is none.
  std::optional<std::int64_t> timeOf(const ChromeEvent& event, const Place& place);
  // The key that pairs an asynchronous event with others; 0: the event has no id.
  std::uint64_t asyncKey(const ChromeEvent& event) const;
  TrackRef asyncLane(const ChromeEvent& event, const Category& category);
  ProcessRef processOf(const ChromeEvent& event);
  TrackRef threadOf(const ChromeEvent& event, const Category& category);
  std::string_view nameOf(const ChromeEvent& event);
  // The arguments to keep with an event of an unknown tool.
  StringId argsOf(const ChromeEvent& event, const Category& category, const Place& place);

  Builder& builder_;
  Kineto kineto_;
  MxNet mxnet_;
  OwnJson own_;
  std::vector<std::vector<Open>> open_;  // by track
  std::unordered_map<std::uint64_t, std::vector<Open>> open_async_;
  std::size_t open_count_ = 0;
  std::int64_t* phases_[256] = {};
  Tallies tallies_;
  RecentTexts<Category> categories_;
  RecentTexts<TrackRef> threads_;
  RecentTexts<StringId> args_;
  std::size_t distinct_args_ = 0;
  std::string unescaped_name_;
  bool samples_seen_ = false;
  bool events_seen_ = false;
};

}  // namespace pitwall::import
