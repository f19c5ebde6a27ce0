// What each device work and each call waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/analysis/critical_path.h"
#include "analyzer/analysis/window_events.h"

namespace pitwall::analysis {

// From the end of the work waited for to the start of the waiting one, at most.
inline constexpr TimeNs kHandoverNs = 10'000;

enum class WaitedFor : std::uint8_t { nothing, streamWork, otherStream, launch };

struct Binding {
  WaitedFor kind = WaitedFor::nothing;
  std::uint32_t other = WindowEvents::kNone;  // the work, of streamWork and otherStream
};

class WaitGraph {
 public:
  // The events outlive it.
  explicit WaitGraph(const WindowEvents& events);

  const Binding& binding(std::uint32_t work) const { return bindings_[work]; }
  // Work whose launch was under way when the stream became free is counted as queued, as others count it.
  static TimeNs launchedAt(const WindowEvents::Work& work) { return work.call_start_ns; }
  // The work that a call waited for, of the work that had ended by `at`; kNone when it did not wait.
  std::uint32_t releasedBy(std::uint32_t host, TimeNs at) const;
  // The root of another thread that ended last by `at`, if it began when or after this one ended; kNone =
  // none.
  std::uint32_t ranMeanwhile(std::uint32_t thread, TimeNs own_end, TimeNs at) const;

 private:
  std::uint32_t endedBefore(std::uint32_t index, bool other_stream) const;
  Binding bind(std::uint32_t index) const;

  const WindowEvents& events_;
  std::vector<Binding> bindings_;
};

PathKey keyOf(const WindowEvents::HostEvent& event);
PathKey keyOf(const WindowEvents::Work& work);

// Gives each event of the window its slack.
void addSlack(const WindowEvents& events, const WaitGraph& graph, CriticalPath& path);

}  // namespace pitwall::analysis
