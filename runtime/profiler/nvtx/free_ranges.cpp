// Part of the recorder: ranges that begin on one thread and end on any other, and the output at a drain.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/profiler/nvtx/recorder.h"

namespace pitwall::nvtx {

namespace {

constexpr char kTrackName[] = "NVTX start/end ranges";

// While one is alive, a full ring does not make the thread wait for the drain.
class NoWaitForDrain {
 public:
  NoWaitForDrain() : before_(profiler::t_current.must_not_block) {
    profiler::t_current.must_not_block = true;
  }
  ~NoWaitForDrain() { profiler::t_current.must_not_block = before_; }
  NoWaitForDrain(const NoWaitForDrain&) = delete;
  NoWaitForDrain& operator=(const NoWaitForDrain&) = delete;

 private:
  const bool before_;
};

// The scopes of the ring are its rows: the trace of a killed program shows the first 64 as open.
void setOpen(profiler::Ring& ring, std::uint32_t row, SiteId site, Ticks started) {
  if (row >= profiler::Ring::kScopes) return;
  profiler::storePair(&ring.scopes[row], started, site.value);
  const std::uint32_t rows = std::max(ring.depth.load(std::memory_order_relaxed), row + 1);
  ring.depth.store(rows, std::memory_order_release);
}

void setClosed(profiler::Ring& ring, std::uint32_t row) {
  if (row >= profiler::Ring::kScopes) return;
  profiler::storePair(&ring.scopes[row], 0, 0);
  std::uint32_t rows = ring.depth.load(std::memory_order_relaxed);
  while (rows > 0 && ring.scopes[rows - 1].started == 0) --rows;
  ring.depth.store(rows, std::memory_order_release);
}

}  // namespace

std::uint64_t Recorder::begin(SiteId site, std::int64_t value) {
  const ScopedLock lock(mutex_);
  const std::uint64_t id = next_range_++;
  const auto gap = std::find(rows_.begin(), rows_.end(), false);
  const auto row = static_cast<std::uint32_t>(gap - rows_.begin());
  if (gap == rows_.end())
    rows_.push_back(true);
  else
    *gap = true;
  Free& range = free_.emplace(id, Free{site, value, 0, row}).first->second;
  if (!profiler_.isRecording()) return id;
  if (ring_ == nullptr) ring_ = profiler_.trackRing(kTrackName);
  profiler::orderClock();  // the range that had the row before ended earlier
  range.started = Profiler::now();
  if (ring_ != nullptr) setOpen(*ring_, row, site, range.started);
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
  const NoWaitForDrain no_wait;  // the drain takes the lock too
  const auto found = free_.find(range);
  if (found == free_.end()) {
    unbalanced_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Free ended = found->second;
  free_.erase(found);
  rows_[ended.row] = false;
  if (ended.started == 0 || !profiler_.isRecording()) return;
  if (ring_ == nullptr) return profiler_.span(ended.site, ended.started, now, ended.value);
  profiler::put(ring_, {ended.started, now - ended.started, static_cast<std::uint64_t>(ended.value),
                        ended.site.value, ring::RecordKind::span, ring::kAnnounced, rowOf(ended)});
  setClosed(*ring_, ended.row);
}

// --- threads and the trace -----------------------------------------------------------------------------

void Recorder::nameThread(std::int64_t tid, std::string_view name) {
  if (tid == syscall(SYS_gettid)) profiler_.nameThread(name);
}

// What has ended is in the ring, which was drained before.
void Recorder::drain(DrainContext& context) {
  if (const std::int64_t count = unbalanced_.load(std::memory_order_relaxed); count > 0)
    context.sink().meta(kUnbalancedKey, std::to_string(count));
  if (!context.isLast()) return;
  if (const std::uint64_t count = names_.payloadsDropped(); count > 0) {
    context.sink().loss({{},
                         0,
                         context.toNs(Profiler::now()),
                         static_cast<std::int64_t>(count),
                         "NVTX payloads of too many different values"});
  }
  const ScopedLock lock(mutex_);
  std::vector<Event> events;
  for (const auto& [id, range] : free_) {
    if (range.started == 0) continue;
    const Names::SiteText text = names_.textOf(range.site);
    Event event;
    event.start_ns = event.pushed_ns = event.ready_ns = context.toNs(range.started);
    event.dur_ns = context.toNs(Profiler::now()) - event.start_ns;
    event.value = range.value;
    event.name = context.sink().string(text.name);
    event.args = context.sink().string("{" + text.args + "}");
    event.depth = rowOf(range);
    events.push_back(event);
  }
  if (ring_ != nullptr && !events.empty()) context.sink().events(context.trackOf(*ring_), events);
}

}  // namespace pitwall::nvtx
