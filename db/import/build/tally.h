// Counts what an import read, repaired and left out, with an example of each; keeps its notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "db/event.h"
#include "db/import.h"

namespace pitwall::import {

class Tally {
 public:
  explicit Tally(ImportSummary& summary) : summary_(summary) {}

  ImportSummary& summary() { return summary_; }
  ImportedInput& input() { return summary_.inputs.back(); }

  // The counter of a term of the file itself; the reference stays valid. The number of terms is bounded.
  std::int64_t& record(std::string_view what);
  // The counters themselves, to avoid a lookup on frequent events. The references stay valid.
  ImportCount& notUnderstoodCounter(std::string_view what);
  ImportCount& repairedCounter(std::string_view what);
  ImportCount& droppedCounter(std::string_view what);
  void notUnderstood(std::string_view what, std::string_view example);
  void repaired(std::string_view what, std::string_view example);
  void dropped(std::string_view what, std::string_view example);
  // The same where the example is expensive: computed once.
  template <class Example>
  requires std::is_invocable_r_v<std::string, Example>
  void notUnderstood(std::string_view what, const Example& example) {
    count(notUnderstoodCounter(what), example);
  }
  template <class Example>
  requires std::is_invocable_r_v<std::string, Example>
  void repaired(std::string_view what, const Example& example) { count(repairedCounter(what), example); }
  template <class Example>
  requires std::is_invocable_r_v<std::string, Example>
  void dropped(std::string_view what, const Example& example) { count(droppedCounter(what), example); }
  template <class Example>
  requires std::is_invocable_r_v<std::string, Example>
  static void count(ImportCount& counter, const Example& example) {
    if (counter.count == 0) setExample(counter, example());
    ++counter.count;
  }
  // A length below 0 becomes 0 and is counted as repaired.
  void repairLength(Event& event) {
    if (event.dur_ns < 0) repairNegativeLength(event);
  }
  void note(std::string text);     // the same text once; at most kMostNotes, then a last one that says so
  void damaged(std::string text);  // the current input ends early; the first text stays

  void device(const DeviceInfo& device);  // a device of the traces, shown once

  void countEvents(EventKind kind, std::int64_t count) { kinds_[static_cast<std::uint8_t>(kind)] += count; }
  void countSamples(std::int64_t count) { samples_ += count; }
  void countDependencies(std::int64_t count) { dependencies_ += count; }
  void finish();  // puts the sums of all inputs into the summary

 private:
  static constexpr std::size_t kMostNotes = 1000;
  void repairNegativeLength(Event& event);
  static void setExample(ImportCount& counter, std::string_view example);

  ImportSummary& summary_;
  std::int64_t kinds_[256] = {};  // by EventKind
  std::int64_t samples_ = 0;
  std::int64_t dependencies_ = 0;
};

}  // namespace pitwall::import
