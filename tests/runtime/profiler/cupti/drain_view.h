// A DrainContext for tests: ticks are nanoseconds, the recording began at 1000.
#pragma once

#include <string>
#include <vector>

#include "runtime/profiler.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test {

class DrainView : public DrainContext {
 public:
  DrainView() { process_ = memory.process({1, "program", "program", 0}); }
  TraceSink& sink() override { return memory; }
  ProcessId process() const override { return process_; }
  TimeNs toNs(Ticks ticks) const override { return ticks < kStart ? 0 : static_cast<TimeNs>(ticks - kStart); }
  Ticks startTicks() const override { return kStart; }
  ThreadId threadOf(std::int64_t tid) override { return memory.thread({process_, tid, "thread"}); }
  TrackId trackOf(const profiler::Ring&) override { return {}; }
  bool isLast() const override { return last; }

  // "track: depth kind name args" of each event, in the order of arrival.
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const auto& [track, event] : memory.all_events) {
      const std::string args = event.args ? " " + text(event.args) : "";
      out.push_back(memory.tracks.at(track.value - 1).name + ": " + std::to_string(event.depth) + " " +
                    toString(event.kind) + " " + text(event.name) + args);
    }
    return out;
  }
  const std::string& text(StringId id) const { return memory.strings.at(id.value - 1); }
  const Event& event(const std::string& name) const {
    for (const auto& [track, event] : memory.all_events) {
      if (text(event.name) == name) return event;
    }
    static const Event none;
    return none;
  }
  bool hasDependency(CorrelationId source, CorrelationId target) const {
    for (const Dependency& d : memory.all_dependencies) {
      if (d.source == source && d.target == target && d.kind == DependencyKind::launch) return true;
    }
    return false;
  }

  static constexpr Ticks kStart = 1000;
  MemorySink memory;
  bool last = false;

 private:
  ProcessId process_;
};

}  // namespace pitwall::test
