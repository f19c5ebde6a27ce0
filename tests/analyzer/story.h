// Random traces for tests of what holds of every analysis: what happened, with words instead of ids.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "db/event.h"
#include "db/reader.h"

namespace pitwall::test {

// An event as a program would write it: with words instead of ids.
struct WrittenEvent {
  std::string thread, stream;  // one of both
  Event event;
  std::string name;
  OperatorFacts op;  // of operators
};

struct Story {
  std::vector<WrittenEvent> events;
  std::vector<Dependency> dependencies;
  std::vector<IterationMark> marks;
};

class Author {
 public:
  explicit Author(unsigned seed) : random_(seed) {}

  // Operators of `layers` layers on two workers, kernels on two streams with their launches, waits and
  // copies.
  Story write(int iterations, int layers) {
    for (int i = 0; i < iterations; ++i) {
      if (iterations > 1) story_.marks.push_back({i, now_, 32});
      wait();
      std::vector<CorrelationId> ran;
      for (int layer = 0; layer < layers; ++layer) runOperator(layer, layers, ran);
      for (int k = 0; k < layers; ++k) runKernel(k);
      now_ = std::max({now_, worker_free_[0], worker_free_[1]}) + pick(20'000);
    }
    return std::move(story_);
  }

 private:
  TimeNs pick(TimeNs below) { return static_cast<TimeNs>(random_() % static_cast<std::uint64_t>(below)); }

  void wait() {
    if (pick(2) == 0) return;
    const TimeNs length = 1000 + pick(30'000);
    add({"main", "", {.start_ns = now_, .dur_ns = length, .kind = EventKind::dataWait}, "wait", {}});
    now_ += length;
  }

  void runOperator(int layer, int layers, std::vector<CorrelationId>& ran) {
    const auto worker = static_cast<std::size_t>(pick(2));
    TimeNs ready = now_;
    Event event{.correlation = ++correlation_, .kind = EventKind::operatorRun};
    for (int d = 0; d < 2 && !ran.empty(); ++d) {
      const auto source = ran[static_cast<std::size_t>(pick(static_cast<TimeNs>(ran.size())))];
      story_.dependencies.push_back({source, event.correlation});
      ready = std::max(ready, ends_[source]);
    }
    event.start_ns = std::max(ready, worker_free_[worker]) + (pick(3) == 0 ? pick(5000) : 0);
    event.dur_ns = 500 + pick(20'000);
    event.pushed_ns = event.start_ns - pick(8000);
    event.ready_ns = event.start_ns;
    worker_free_[worker] = ends_[event.correlation] = event.start_ns + event.dur_ns;
    ran.push_back(event.correlation);
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = fmt::format("layer{}", layer);
    facts.phase = layer < layers / 2 ? Phase::forward : Phase::backward;
    facts.flop = 1000 * (layer + 1);
    add({fmt::format("cpu worker {}", worker), "", event, "Convolution", facts});
  }

  void runKernel(int k) {
    const TimeNs launched = now_ + k * 3000 + pick(2000);
    Event call{.start_ns = launched, .dur_ns = 1000, .correlation = ++correlation_, .kind = EventKind::api};
    const EventKind kinds[] = {EventKind::kernel, EventKind::kernel, EventKind::copy,
                               EventKind::communication};
    const char* names[] = {"gemm", "relu", "Memcpy HtoD (Pageable -> Device)", "ncclAllReduce"};
    const auto kind = static_cast<std::size_t>(pick(4));
    auto& free = stream_free_[kind == 3];
    Event work{.start_ns = std::max(free, launched + 1500),
               .dur_ns = 300 + pick(9000),
               .correlation = ++correlation_,
               .value = kind < 2 ? 0 : 4096,
               .kind = kinds[kind]};
    free = work.start_ns + work.dur_ns;
    story_.dependencies.push_back({call.correlation, work.correlation, DependencyKind::launch});
    add({"main", "", call, "cudaLaunchKernel", {}});
    add({"", kind == 3 ? "stream 2" : "stream 1", work, names[kind], {}});
  }

  void add(WrittenEvent written) {
    if (written.event.kind != EventKind::operatorRun)
      written.event.pushed_ns = written.event.ready_ns = written.event.start_ns;
    story_.events.push_back(std::move(written));
  }

  std::mt19937_64 random_;
  Story story_;
  TimeNs now_ = 1000;
  TimeNs worker_free_[2] = {}, stream_free_[2] = {};
  CorrelationId correlation_ = 0;
  std::map<CorrelationId, TimeNs> ends_;
};

// Writes the story in the order that the generator of random numbers gives its rows: tracks, facts, strings,
// dependencies and portions of events.
void writeStory(Story story, unsigned order, const std::string& path);

struct AnalyzedStory {
  std::unique_ptr<Trace> trace;
  Report report;

  SqlRows rows(const std::string& sql) const;
  std::int64_t number(const std::string& sql) const;  // -1 = no number
};

AnalyzedStory analyzed(const std::string& path, std::size_t evidence_rows = 5,
                       std::size_t events_at_once = 0);

}  // namespace pitwall::test
