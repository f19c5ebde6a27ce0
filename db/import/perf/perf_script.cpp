// Reads the text that `perf script` prints of a recording of perf: samples of threads with their call stacks.
//
// A sample stands for the time before it: of the software clocks its period, which is CPU time in nanoseconds; of
// other events (cycles, ...) the interval at which busy threads were sampled. The time between is unknown, since a
// thread that does not run has no samples.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/import/build/sampled_stacks.h"
#include "db/import/input/line_reader.h"
#include "db/import/perf/perf_line.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMeasured = std::size_t{1} << 16;
constexpr std::size_t kDeepestStack = 1024;
constexpr std::int64_t kUnknownIntervalNs = 1'000'000;

class PerfScript {
 public:
  PerfScript(Window& window, Builder& builder) : window_(window), builder_(builder), stacks_(builder) {}

  void line(std::string_view text);
  void end();

 private:
  struct Sample {
    TrackRef track;
    std::int64_t time_ns = 0;
    std::int64_t interval_ns = 0;  // 0 = by the interval of all
    StackId stack;
  };

  void head(const PerfHead& head, std::string_view text);
  void function(std::string_view text);
  void finishSample();
  std::string shown(std::string_view text) const {
    return fmt::format("{}: {}", window_.place(), quotedText(text, 80));
  }
  void measure();
  void add(const Sample& sample);

  Window& window_;
  Builder& builder_;
  SampledStacks stacks_;
  std::string event_;  // of the first sample: the others' are counted
  bool inside_ = false, skipped_ = false, has_pids_ = true, estimated_ = false;
  Sample sample_;
  std::vector<FrameId> frames_;  // innermost first
  std::int64_t interval_ns_ = 0;
  std::vector<Sample> waiting_;                         // for the interval
  std::unordered_map<std::size_t, std::string> names_;  // by track
};

void PerfScript::head(const PerfHead& head, std::string_view text) {
  inside_ = true;
  skipped_ = true;
  ++builder_.tally().record(fmt::format("samples {}", head.event.substr(0, 60)));
  if (!standsForTime(head.event))
    return builder_.tally().notUnderstood("samples of events that stand for no time",
                                          [&] { return shown(text); });
  if (event_.empty()) event_ = std::string(head.event);
  if (head.event != event_)
    return builder_.tally().notUnderstood("samples of other events than the file's first",
                                          [&] { return shown(text); });
  if (head.tid == 0)
    return builder_.tally().notUnderstood("samples of CPUs that had nothing to do",
                                          [&] { return shown(text); });
  skipped_ = false;
  has_pids_ = has_pids_ && head.pid >= 0;
  const ProcessRef process = builder_.tracks().process(head.pid >= 0 ? std::to_string(head.pid) : "perf");
  if (head.pid >= 0) builder_.tracks().keyIsPid(process);
  if (head.pid < 0) builder_.tracks().nameProcess(process, "recorded by perf");
  const TrackRef track = builder_.tracks().stacks(process, std::to_string(head.tid));
  // A program that is started changes the name.
  if (std::string& name = names_[track.index]; name != head.command) {
    name = std::string(head.command);
    builder_.tracks().nameThread(track, name);
    if (head.pid == head.tid) builder_.tracks().nameProcess(process, name);
  }
  sample_ = {track, head.time_ns, isCpuClock(head.event) ? head.period : 0, {}};
  if (!head.rest.empty()) function(head.rest);
}

void PerfScript::function(std::string_view text) {
  if (skipped_) return;
  const auto function = perfFunction(text);
  if (!function)
    return builder_.tally().notUnderstood("lines that are no function of a stack",
                                          [&] { return shown(text); });
  if (frames_.size() >= kDeepestStack)
    return builder_.tally().repaired("stacks deeper than 1024 functions: without their outermost ones", "");
  // The offset within a function differs from sample to sample.
  const std::string key = fmt::format("{}\n{}", function->symbol, function->object);
  frames_.push_back(stacks_.frame(key, [&] { return perfFrame(*function); }));
}

void PerfScript::finishSample() {
  if (inside_ && !skipped_) {
    std::reverse(frames_.begin(), frames_.end());
    sample_.stack = stacks_.stack(frames_);
    if (sample_.interval_ns > 0 || interval_ns_ > 0) {
      add(sample_);
    } else {
      waiting_.push_back(sample_);
      if (waiting_.size() >= kMeasured) measure();
    }
  }
  inside_ = false;
  frames_.clear();
}

// A quarter of the intervals between a thread's samples is shorter: a thread that also waits has longer ones.
void PerfScript::measure() {
  std::unordered_map<std::size_t, std::int64_t> last;
  std::vector<std::int64_t> gaps;
  for (const Sample& sample : waiting_) {
    const auto [known, fresh] = last.try_emplace(sample.track.index, sample.time_ns);
    if (!fresh && sample.time_ns > known->second) gaps.push_back(sample.time_ns - known->second);
    known->second = sample.time_ns;
  }
  interval_ns_ = kUnknownIntervalNs;
  if (!gaps.empty()) {
    const auto at = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 4);
    std::nth_element(gaps.begin(), at, gaps.end());
    interval_ns_ = *at;
  }
  estimated_ = !waiting_.empty();
  for (const Sample& sample : waiting_) add(sample);
  waiting_.clear();
}

void PerfScript::add(const Sample& sample) {
  const std::int64_t interval = sample.interval_ns > 0 ? sample.interval_ns : interval_ns_;
  if (interval >= kLatestNs) return builder_.tally().dropped("samples with a time out of range", "");
  stacks_.add(sample.track, sample.time_ns - interval, sample.time_ns, sample.stack);
}

void PerfScript::line(std::string_view text) {
  if (text.starts_with('#')) return;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return finishSample();
  const bool indented = text.front() == '\t' || text.front() == ' ';
  // A command shorter than its column is indented too.
  if (indented && inside_ && perfFunction(text)) return function(text);
  if (const auto head = perfHead(text)) {
    finishSample();
    return this->head(*head, text);
  }
  if (inside_) return function(text);
  builder_.tally().notUnderstood("lines that are no sample", [&] { return shown(text); });
}

void PerfScript::end() {
  finishSample();
  measure();
  stacks_.end();
  ImportedInput& input = builder_.tally().input();
  input.format = "perf script";
  input.clock = "seconds of the system's clock since its start";
  builder_.meta(meta::kProducer, "perf");
  if (!has_pids_)
    builder_.tally().note(fmt::format(
        "{}: the text has no process ids, all threads are in one process; perf script -F +pid prints them",
        input.path));
  if (estimated_)
    builder_.tally().note(
        fmt::format("{}: the period of {} is no time: each sample stands for {} us, the interval at "
                    "which busy threads were sampled",
                    input.path, event_, interval_ns_ / 1000));
}

}  // namespace

Status readPerfScript(Window& window, const ImportOptions& options, Builder& builder) {
  PerfScript reader(window, builder);
  return readLines(reader, window, options, builder);
}

}  // namespace pitwall::import
