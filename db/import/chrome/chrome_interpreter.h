// Interprets the events of a Chrome Trace Event file: phases, pairing, counters, arrows; and, for their
// files, the conventions of PyTorch's and MXNet's profilers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/chrome/categories.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/chrome/dialect.h"
#include "db/import/chrome/foreign_args.h"
#include "db/import/chrome/open_ranges.h"
#include "db/import/chrome/place.h"
#include "db/import/input/recent_texts.h"
#include "db/import/kineto/kineto.h"
#include "db/import/mxnet/mxnet.h"
#include "db/import/pitwall/own_json.h"

namespace pitwall::import {

class ChromeInterpreter {
 public:
  // `dialect` may be null: then the file's own terms decide.
  ChromeInterpreter(Builder& builder, ChromeDialect* dialect)
      : builder_(builder),
        dialect_(dialect),
        kineto_(builder),
        mxnet_(builder),
        own_(builder),
        open_(builder),
        categories_(builder),
        args_(builder) {}

  // A member of the document besides traceEvents; `value` may be of type none when it was too long to keep.
  void documentMember(std::string_view key, const JsonValue& value);
  void event(const ChromeEvent& event, const Place& place);
  void end();

 private:
  // Counters of what happens to many events of some files.
  struct Tallies {
    ImportCount* twins = nullptr;
    ImportCount* args = nullptr;
  };

  void count(const ChromeEvent& event);
  void metadata(const ChromeEvent& event);
  void complete(const ChromeEvent& event, const Category& category, const Place& place);
  void begin(const ChromeEvent& event, const Category& category, const Place& place);
  void endRange(const ChromeEvent& event, const Category& category, const Place& place);
  void async(const ChromeEvent& event, const Category& category, const Place& place);
  void instant(const ChromeEvent& event, const Category& category, const Place& place);
  void counter(const ChromeEvent& event, const Category& category, const Place& place);
  void flow(const ChromeEvent& event, const Category& category, const Place& place);
  void metric(const ChromeEvent& event, const Place& place);
  OpenRange opened(const ChromeEvent& event, const Category& category, std::int64_t start_ns, TrackRef track,
                   const Place& place);
  // The event's time; counts the event when there is none.
  std::optional<std::int64_t> timeOf(const ChromeEvent& event, const Place& place);
  TrackRef asyncLane(const ChromeEvent& event, const Category& category);
  ProcessRef processOf(const ChromeEvent& event);
  TrackRef threadOf(const ChromeEvent& event, const Category& category);
  std::string_view nameOf(const ChromeEvent& event);
  // The arguments to keep with an event of an unknown tool.
  StringId argsOf(const ChromeEvent& event, const Category& category, const Place& place);

  Builder& builder_;
  ChromeDialect* const dialect_;
  Kineto kineto_;
  MxNet mxnet_;
  OwnJson own_;
  OpenRanges open_;
  std::int64_t* phases_[256] = {};
  Tallies tallies_;
  Categories categories_;
  RecentTexts<TrackRef> threads_;
  ForeignArgs args_;
  std::string unescaped_name_;
  bool samples_seen_ = false;
  bool events_seen_ = false;
};

}  // namespace pitwall::import
