#include "runtime/profiler.h"

#include <signal.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "runtime/profiler/state.h"

namespace pitwall {

namespace {

std::uint64_t nextProfilerId() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t ringRecords(Bytes bytes) {
  const auto least = static_cast<std::uint64_t>(std::max<Bytes>(bytes, 1024));
  return std::bit_ceil(least) / sizeof(profiler::Record);
}

// A thread that takes no signals, so that the program's handlers run on the program's threads.
template <class F>
std::unique_ptr<std::thread> quietThread(F body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto thread = std::make_unique<std::thread>(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Profiler::State::State(const ProfilerOptions& chosen, std::uint64_t id, std::atomic<bool>& recording_flag)
    : options(chosen), recording(recording_flag), logs(id, ringRecords(chosen.ring_bytes)) {
  profiler::joinForkGuard({&recording, &in_child, &logs, &identities});
}

Profiler::Profiler(ProfilerOptions options)
    : id_(nextProfilerId()), state_(std::make_unique<State>(options, id_, recording_)) {}

Profiler::~Profiler() {
  (void)stop();
  profiler::leaveForkGuard(&recording_);
  // In a forked child the drain thread and the sink's own threads do not exist: neither can be ended.
  if (state_->in_child) (void)state_.release();
}

// --- control -------------------------------------------------------------------------------------------

Status Profiler::start(std::unique_ptr<TraceSink> sink) {
  State& s = *state_;
  if (s.in_child) {
    return fail(ErrorCode::unsupported,
                "recording cannot start in a forked child with its parent's profiler: make a new one");
  }
  const std::scoped_lock control(s.control_mutex);
  if (s.drain_thread != nullptr) {
    return fail(ErrorCode::invalidInput, "the profiler is already recording: stop() it first");
  }
  {
    const std::scoped_lock lock(s.sink_mutex, s.status_mutex);
    s.first_failure.reset();
    s.sink = std::move(sink);
    s.drain = std::make_unique<profiler::Drain>(*s.sink, s.logs, s.identities, s.options.rank, s.sources);
  }
  s.self_ns = 0;
  s.stopping = false;
  recording_.store(true, std::memory_order_relaxed);
  s.drain_thread = quietThread([&s] { s.drainLoop(); });
  return {};
}

Status Profiler::stop() {
  State& s = *state_;
  if (s.in_child) return {};
  const std::scoped_lock control(s.control_mutex);
  if (s.drain_thread == nullptr) return {};
  recording_.store(false, std::memory_order_relaxed);
  {
    const std::scoped_lock lock(s.wake_mutex);
    s.stopping = true;
  }
  s.wake.notify_all();
  s.drain_thread->join();
  s.drain_thread.reset();
  return sinkStatus();
}

Status Profiler::sinkStatus() const {
  State& s = *state_;
  if (s.in_child) return {};
  const std::scoped_lock lock(s.status_mutex);
  if (s.first_failure) return fail(*s.first_failure);
  return {};
}

void Profiler::withSink(const std::function<void(TraceSink&)>& write) {
  State& s = *state_;
  if (s.in_child) return;
  const std::scoped_lock lock(s.sink_mutex);
  if (s.sink != nullptr) write(*s.sink);
}

void Profiler::addSource(EventSource& source) {
  const std::scoped_lock lock(state_->sink_mutex);
  state_->sources.push_back(&source);
}

void Profiler::removeSource(EventSource& source) {
  if (state_->in_child) return;
  const std::scoped_lock lock(state_->sink_mutex);
  std::erase(state_->sources, &source);
}

Status Profiler::flush() { return state_->in_child ? Status{} : state_->drainOnce(); }

TimeNs Profiler::selfTime() const { return state_->self_ns.load(std::memory_order_relaxed); }

// --- the drain thread ----------------------------------------------------------------------------------

void Profiler::State::keepFirst(const Status& status) {
  const std::scoped_lock lock(status_mutex);
  if (!status.has_value() && !first_failure) first_failure = status.error();
}

Status Profiler::State::drainOnce() {
  const std::scoped_lock lock(sink_mutex);
  if (drain == nullptr) return {};
  Status status = drain->run();
  self_ns.store(drain->selfNs(), std::memory_order_relaxed);
  keepFirst(status);
  return status;
}

void Profiler::State::drainLoop() {
  using Clock = std::chrono::steady_clock;
  const std::chrono::milliseconds interval(std::max(1, options.flush_interval_ms));
  const std::chrono::milliseconds poll(std::clamp(options.poll_interval_ms, 1, options.flush_interval_ms));
  auto next = Clock::now() + interval;
  for (;;) {
    {
      std::unique_lock lock(wake_mutex);
      if (wake.wait_for(lock, poll, [this] { return stopping; })) break;
    }
    if (Clock::now() < next && !logs.anyHalfFull()) continue;
    (void)drainOnce();
    next = Clock::now() + interval;
  }
  const std::scoped_lock lock(sink_mutex);
  keepFirst(drain->finish());
  self_ns.store(drain->selfNs(), std::memory_order_relaxed);
  drain.reset();
  sink.reset();
}

// --- identities ----------------------------------------------------------------------------------------

SiteId Profiler::site(std::string_view name, EventKind kind) { return state_->identities.site(name, kind); }

OperatorId Profiler::operatorFacts(const OperatorFacts& facts) { return state_->identities.facts(facts); }

OperatorFacts Profiler::operatorFacts(OperatorId id) const { return state_->identities.facts(id); }

void Profiler::nameThread(std::string_view name) { state_->logs.nameThisThread(name); }

CorrelationId Profiler::newCorrelation() {
  static std::atomic<CorrelationId> next{CorrelationId{1} << 48U};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void Profiler::useClock(RecorderClock clock) {
  profiler::clock_is_tsc = clock == RecorderClock::automatic && profiler::tscIsInvariant();
}

// --- recording: the program's threads ------------------------------------------------------------------

inline profiler::Ring* Profiler::ring() {
  const profiler::CurrentRing& current = profiler::currentRing();
  if (current.owner == id_) [[likely]]
    return current.ring;
  return state_->logs.forThisThread();
}

void Profiler::operatorRun(const OperatorRun& run) {
  if (!isRecording()) return;
  profiler::Ring* const ring = this->ring();
  if (ring == nullptr || !ring->reserve(2, run.finished)) return;
  ring->slot(0) = {run.started,
                   run.finished - run.started,
                   run.correlation,
                   run.op.value,
                   profiler::RecordKind::operatorRun,
                   0,
                   profiler::currentRing().depth};
  profiler::Record& times = ring->slot(1);
  times.a = run.pushed;
  times.b = run.ready;
  ring->publish(2);
}

namespace {

inline void recordSpan(profiler::Ring* ring, const profiler::Record& record, CorrelationId correlation) {
  if (ring == nullptr) return;
  if (correlation == 0) [[likely]] {
    if (!ring->reserve(1, record.a + record.b)) return;
    ring->slot(0) = record;
    ring->publish(1);
    return;
  }
  if (!ring->reserve(2, record.a + record.b)) return;
  ring->slot(0) = record;
  ring->slot(0).kind = profiler::RecordKind::spanLinked;
  ring->slot(1).a = correlation;
  ring->publish(2);
}

}  // namespace

void Profiler::span(SiteId site, Ticks started, Ticks finished, std::int64_t value,
                    CorrelationId correlation) {
  if (!isRecording()) return;
  recordSpan(ring(),
             {started, finished - started, static_cast<std::uint64_t>(value), site.value,
              profiler::RecordKind::span, 0, profiler::currentRing().depth},
             correlation);
}

Ticks Profiler::enter() {
  if (!isRecording()) return 0;
  ++profiler::currentRing().depth;
  return now();
}

void Profiler::leave(SiteId site, Ticks started, std::int64_t value, CorrelationId correlation) {
  const std::uint16_t depth = --profiler::currentRing().depth;
  if (!isRecording()) return;
  recordSpan(ring(),
             {started, now() - started, static_cast<std::uint64_t>(value), site.value,
              profiler::RecordKind::span, profiler::kAnnounced, depth},
             correlation);
}

void Profiler::instant(SiteId site, std::int64_t value) {
  if (!isRecording()) return;
  recordSpan(ring(),
             {now(), 0, static_cast<std::uint64_t>(value), site.value, profiler::RecordKind::instant, 0,
              profiler::currentRing().depth},
             0);
}

void Profiler::dependency(const Dependency& dependency) {
  if (!isRecording()) return;
  profiler::Ring* const ring = this->ring();
  if (ring == nullptr || !ring->reserve(1, 0)) return;
  ring->slot(0) = {dependency.source,
                   dependency.target,
                   0,
                   0,
                   profiler::RecordKind::dependency,
                   static_cast<std::uint8_t>(dependency.kind),
                   0};
  ring->publish(1);
}

void Profiler::counter(SiteId site, double value) {
  if (!isRecording()) return;
  recordSpan(ring(),
             {now(), 0, std::bit_cast<std::uint64_t>(value), site.value, profiler::RecordKind::counter, 0, 0},
             0);
}

void Profiler::iteration(std::int64_t index, std::int64_t items) {
  if (!isRecording()) return;
  recordSpan(ring(),
             {now(), static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(items), 0,
              profiler::RecordKind::iteration, 0, 0},
             0);
}

}  // namespace pitwall
