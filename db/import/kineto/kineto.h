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

namespace pitwall::import {

// The kind of the events of a category.
enum class KinetoRole : std::uint8_t {
  none,  // not a category of Kineto
  hostOperator,
  hostCall,
  kernel,
  copy,
  mtiaWork,
  deviceSync,
  deviceAnnotation,
  profilerRange,
  annotation,
  plain,
};
KinetoRole kinetoRoleOf(std::string_view category);

class Kineto {
 public:
  explicit Kineto(Builder& builder) : builder_(builder), launches_(builder), counted_(builder) {}

  // A member of the document besides traceEvents. Returns whether it is one of Kineto's.
  bool documentMember(std::string_view key, const JsonValue& value);
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
  // The phase of the operator at one end of an arrow from a forward operator to its gradient.
  static Phase phaseOfArrow(std::string_view category, int order);
  void end();

  bool seen() const { return seen_; }
  bool hasBaseTime() const { return has_base_; }
  bool isOlderProfiler() const { return older_profiler_; }
  std::string version() const;

 private:
  struct OperatorKnown {
    OperatorId facts;
    StringId args;
  };

  TrackRef streamOf(const ChromeEvent& event, std::string_view suffix);
  TrackRef threadOf(const ChromeEvent& event);
  void deviceProperties(std::string_view array);
  void oneDevice(std::string_view object);
  void distributedInfo(std::string_view object);
  void kernel(const ChromeEvent& event, std::string_view name, Event out);
  KernelId kernelFacts(const ChromeEvent& event);
  void copy(const ChromeEvent& event, const std::optional<std::int64_t>& bytes, Event out);
  void mtiaWork(const ChromeEvent& event, std::string_view name, Event out);
  void deviceSync(const ChromeEvent& event, Event out);
  void profilerRange(const ChromeEvent& event, Event out);
  void annotation(const ChromeEvent& event, std::string_view name, Event out);
  void hostOperator(const ChromeEvent& event, std::string_view name, Event out);

  Builder& builder_;
  Launches launches_;
  CountedRanges counted_;
  RecentTexts<TrackRef> threads_;
  RecentTexts<TrackRef> streams_;
  RecentTexts<OperatorKnown> operators_;
  RecentTexts<KernelId> kernels_;
  RecentTexts<TrackRef> memory_;
  bool seen_ = false;
  bool older_profiler_ = false;
  bool has_base_ = false;
  std::string schema_;
  std::string cuda_;
};

}  // namespace pitwall::import
