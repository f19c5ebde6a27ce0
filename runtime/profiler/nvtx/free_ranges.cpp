// Part of the recorder: ranges that begin on one thread and end on any other, and the output at a drain.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/profiler/nvtx/recorder.h"

namespace pitwall::nvtx {

std::uint64_t Recorder::begin(SiteId site, std::int64_t value) {
  const Ticks now = profiler_.isRecording() ? Profiler::now() : 0;
  const ScopedLock lock(mutex_);
  const std::uint64_t id = next_range_++;
  const auto gap = std::find(rows_.begin(), rows_.end(), false);
  const auto row = static_cast<std::uint32_t>(gap - rows_.begin());
  if (gap == rows_.end())
    rows_.push_back(true);
  else
    *gap = true;
  free_.emplace(id, Free{site, value, now, 0, row});
  return id;
}

std::uint64_t Recorder::start(Domain& domain, const char* text) {
  return domain.recorded ? begin(siteOf(domain, text), 0) : ~std::uint64_t{0};
}

std::uint64_t Recorder::start(Domain& domain, const abi::EventAttributes& attributes) {
  if (!domain.recorded) return ~std::uint64_t{0};
  const Found found = find(domain, attributes);
  return begin(found.site, found.value);
}

std::uint64_t Recorder::start(Domain& domain, std::span<const abi::PayloadData> payload) {
  if (!domain.recorded) return ~std::uint64_t{0};
  const Found found = find(domain, payload);
  return begin(found.site, found.value);
}

void Recorder::end(std::uint64_t range) {
  if (range == ~std::uint64_t{0}) return;  // of a domain that is not recorded
  const Ticks now = Profiler::now();
  const ScopedLock lock(mutex_);
  const auto found = free_.find(range);
  if (found == free_.end()) {
    unbalanced_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Free ended = found->second;
  free_.erase(found);
  rows_[ended.row] = false;
  if (ended.started == 0) return;
  ended.ended = now;
  ended_.push_back(ended);
}

// --- threads and the trace -----------------------------------------------------------------------------

void Recorder::nameThread(std::int64_t tid, std::string_view name) {
  if (tid == syscall(SYS_gettid)) profiler_.nameThread(name);
}

void Recorder::drain(DrainContext& context) {
  if (recording_ != context.startTicks()) {
    recording_ = context.startTicks();
    track_ = {};
    site_texts_.clear();
  }
  std::vector<Free> ended;
  {
    const ScopedLock lock(mutex_);
    ended.swap(ended_);
    if (context.isLast()) {
      for (const auto& [id, range] : free_) {
        if (range.started != 0) ended.push_back(range);
      }
    }
  }
  if (const std::int64_t count = unbalanced_.load(std::memory_order_relaxed); count > 0)
    context.sink().meta(kUnbalancedKey, std::to_string(count));
  if (const std::uint64_t count = names_.payloadsDropped(); count > 0 && context.isLast()) {
    context.sink().loss({{},
                         0,
                         context.toNs(Profiler::now()),
                         static_cast<std::int64_t>(count),
                         "NVTX payloads of too many different values"});
  }
  std::vector<Event> events;
  for (const Free& range : ended) {
    if (range.ended != 0 && range.ended < context.startTicks()) continue;
    auto& [name, args] = site_texts_[range.site.value];
    if (!name) {
      const Names::SiteText text = names_.textOf(range.site);
      name = context.sink().string(text.name);
      args = context.sink().string("{" + text.args + "}");
    }
    Event event;
    event.start_ns = event.pushed_ns = event.ready_ns = context.toNs(range.started);
    event.dur_ns = context.toNs(range.ended == 0 ? Profiler::now() : range.ended) - event.start_ns;
    event.value = range.value;
    event.name = name;
    event.args = args;
    event.depth = static_cast<std::uint16_t>(std::min<std::uint32_t>(range.row, 0xFFFF));
    events.push_back(event);
  }
  if (events.empty()) return;
  if (!track_) {
    track_ =
        context.sink().track({TrackKind::thread, context.process(), {}, {}, "NVTX start/end ranges", ""});
  }
  context.sink().events(track_, events);
}

}  // namespace pitwall::nvtx
