#include "db/import/nsys/nsight_projection.h"

#include <fmt/format.h>

#include <algorithm>

namespace pitwall::import {

void NsightProjection::launch(std::uint64_t key, std::int64_t global_thread, std::int64_t start_ns) {
  if (key == 0) return;
  if (launches_.size() < kMostLaunches) {
    launches_.try_emplace(key, global_thread, start_ns);
  } else {
    ++left_out_;
  }
}

void NsightProjection::work(std::uint64_t key, TrackRef beside, std::int64_t start_ns, std::int64_t end_ns) {
  const auto found = launches_.find(key);
  if (key == 0 || found == launches_.end()) return;
  const auto& [thread, launched_ns] = found->second;
  threads_[thread][beside.index].push_back({launched_ns, start_ns, end_ns});
}

void NsightProjection::sort() {
  launches_ = {};
  for (auto& [thread, tracks] : threads_) {
    for (auto& [track, work] : tracks) {
      std::sort(work.begin(), work.end(),
                [](const Work& a, const Work& b) { return a.launched_ns < b.launched_ns; });
      // Ends never decrease, also where work of graphs or priorities overtakes.
      for (std::size_t i = 1; i < work.size(); ++i)
        work[i].end_ns = std::max(work[i].end_ns, work[i - 1].end_ns);
    }
  }
}

void NsightProjection::range(std::int64_t global_thread, const Event& range) {
  const auto tracks = threads_.find(global_thread);
  if (tracks == threads_.end() || range.dur_ns <= 0) return;
  const std::int64_t to = range.start_ns + range.dur_ns;
  for (const auto& [track, work] : tracks->second) {
    const auto before = [](const Work& a, std::int64_t time) { return a.launched_ns < time; };
    const auto first = std::lower_bound(work.begin(), work.end(), range.start_ns, before);
    const auto last = std::lower_bound(first, work.end(), to, before);
    if (first == last) continue;
    Event event = range;
    event.start_ns = first->start_ns;
    event.dur_ns = std::max<std::int64_t>(0, std::prev(last)->end_ns - first->start_ns);
    event.correlation = 0;
    builder_.add({track}, event);
    ++builder_.tally().record("NVTX ranges projected onto a stream");
  }
}

void NsightProjection::end() {
  if (left_out_ == 0) return;
  builder_.tally().note(
      fmt::format("{}: ranges are projected onto the work of the first {} launches; {} more are left out",
                  builder_.tally().input().path, kMostLaunches, left_out_));
}

}  // namespace pitwall::import
