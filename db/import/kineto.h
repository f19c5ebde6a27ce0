// What PyTorch's profiler means by its categories: device streams, launches, steps, memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db/import/builder.h"
#include "db/import/chrome_event.h"
#include "db/import/launches.h"

namespace pitwall::import {

class Kineto {
 public:
  explicit Kineto(Builder& builder) : builder_(builder), launches_(builder) {}

  // A member of the document besides traceEvents. Returns whether it is one of Kineto's.
  bool documentMember(std::string_view key, const JsonValue& value);
  // A complete event; false when its category is none of Kineto's.
  bool complete(const ChromeEvent& event, std::string_view name, std::int64_t start_ns, std::int64_t dur_ns);
  // An instant of the memory profiler; false when it is not one.
  bool instant(const ChromeEvent& event, std::string_view name, std::int64_t time_ns);
  // True for arrows that say no more than the correlation numbers do.
  static bool isLaunchArrow(std::string_view category) { return category == "ac2g" || category == "async"; }
  void end();

  bool seen() const { return seen_; }
  bool hasBaseTime() const { return has_base_; }
  std::string version() const;

 private:
  TrackRef streamOf(const ChromeEvent& event, std::string_view suffix);
  TrackRef threadOf(const ChromeEvent& event);
  void deviceProperties(std::string_view array);
  void distributedInfo(std::string_view object);
  void deviceWork(const ChromeEvent& event, std::string_view category, Event out);
  void annotation(const ChromeEvent& event, std::string_view name, Event out);
  void hostOperator(const ChromeEvent& event, std::string_view name, Event out);

  Builder& builder_;
  Launches launches_;
  bool seen_ = false;
  bool has_base_ = false;
  std::string schema_;
  std::string cuda_;
};

}  // namespace pitwall::import
