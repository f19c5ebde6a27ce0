// Interprets the categories of PyTorch's profiler: device streams, launches, steps, memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/import/build/builder.h"
#include "db/import/build/counted_ranges.h"
#include "db/import/build/launches.h"
#include "db/import/chrome/chrome_event.h"
#include "db/import/input/recent_texts.h"
#include "db/import/kineto/document.h"
#include "db/import/kineto/meanings.h"

namespace pitwall::import {

class Kineto {
 public:
  explicit Kineto(Builder& builder)
      : builder_(builder), document_(builder), launches_(builder), counted_(builder) {}

  // A member of the document besides traceEvents. Returns whether it is one of Kineto's.
  bool documentMember(std::string_view key, const JsonValue& value) { return document_.member(key, value); }
  // A complete event of a Kineto category: `out` has its times, name and, where the category gives more than
  // the kind, arguments.
  void complete(KinetoRole role, const ChromeEvent& event, std::string_view name, Event out);
  // Of an event without a category: PyTorch's older profiler, which builds without Kineto still use, writes
  // none and calls the process "CPU functions".
  KinetoRole roleWithoutCategory(const ChromeEvent& event, std::string_view name);
  // An instant of the memory profiler; false when it is not one.
  bool instant(const ChromeEvent& event, std::string_view name, std::int64_t time_ns);
  // True for arrows that add nothing to the correlation numbers.
  static bool isLaunchArrow(std::string_view category) { return category == "ac2g" || category == "async"; }
  void end();

  bool seen() const { return seen_ || document_.seen(); }
  bool hasBaseTime() const { return document_.hasBaseTime(); }
  bool isOlderProfiler() const { return older_profiler_; }
  std::string version() const { return document_.version(); }

 private:
  struct OperatorKnown {
    OperatorId facts;
    StringId args;
  };

  TrackRef streamOf(const ChromeEvent& event, std::string_view suffix);
  TrackRef threadOf(const ChromeEvent& event);
  void kernel(const ChromeEvent& event, std::string_view name, Event out);
  KernelId kernelFacts(const ChromeEvent& event);
  void copy(const ChromeEvent& event, const std::optional<std::int64_t>& bytes, Event out);
  void mtiaWork(const ChromeEvent& event, std::string_view name, Event out);
  void deviceSync(const ChromeEvent& event, Event out);
  void profilerRange(const ChromeEvent& event, Event out);
  void annotation(const ChromeEvent& event, std::string_view name, Event out);
  void hostOperator(const ChromeEvent& event, std::string_view name, Event out);

  Builder& builder_;
  KinetoDocument document_;
  Launches launches_;
  CountedRanges counted_;
  RecentTexts<TrackRef> threads_;
  RecentTexts<TrackRef> streams_;
  RecentTexts<OperatorKnown> operators_;
  RecentTexts<KernelId> kernels_;
  RecentTexts<TrackRef> memory_;
  bool seen_ = false;  // one of its events
  bool older_profiler_ = false;
};

}  // namespace pitwall::import
