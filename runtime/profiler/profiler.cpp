#include "runtime/profiler.h"

#include <signal.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "db/json_string.h"
#include "db/meta.h"
#include "runtime/profiler/site_registry.h"
#include "runtime/profiler/state.h"

namespace pitwall {

namespace {

std::uint64_t nextProfilerId() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t ringRecords(Bytes bytes) {
  const auto least = static_cast<std::uint64_t>(std::max<Bytes>(bytes, 1024));
  return std::bit_ceil(least) / sizeof(ring::Record);
}

// A few records of an overwriting ring are always about to be overwritten.
Bytes ringBytes(const ProfilerOptions& options) {
  constexpr Bytes kLeast = 4 * ring::kMostRecords * sizeof(ring::Record);
  return options.when_full == RingPolicy::overwrite ? std::max(options.ring_bytes, kLeast)
                                                    : options.ring_bytes;
}

// A thread with all signals blocked, so that the program's handlers run on the program's threads.
template <class F>
std::unique_ptr<std::thread> quietThread(F body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto thread = std::make_unique<std::thread>(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread->native_handle(), "pitwall drain");
  return thread;
}

// The thread that holds the sink frees space in the rings: it must not wait for space itself.
class PITWALL_SCOPED_CAPABILITY HoldsSink {
 public:
  explicit HoldsSink(Mutex& mutex) PITWALL_ACQUIRE(mutex)
      : lock_(mutex), before_(profiler::t_current.must_not_block) {
    profiler::t_current.must_not_block = true;
  }
  ~HoldsSink() PITWALL_RELEASE() { profiler::t_current.must_not_block = before_; }
  HoldsSink(const HoldsSink&) = delete;
  HoldsSink& operator=(const HoldsSink&) = delete;

 private:
  const ScopedLock<Mutex> lock_;
  const bool before_;
};

}  // namespace

Profiler::State::State(const ProfilerOptions& chosen, std::uint64_t id, std::atomic<bool>& recording_flag)
    : options(chosen),
      recording(recording_flag),
      logs(id, ringRecords(ringBytes(chosen)), chosen.when_full,
           chosen.flush_interval_ms > 0 ? &waker : nullptr) {
  profiler::joinForkGuard({&recording, &in_child, &logs, &identities, &file});
}

Profiler::Profiler(ProfilerOptions options)
    : id_(nextProfilerId()), state_(std::make_unique<State>(options, id_, recording_)) {}

Profiler::~Profiler() {
  (void)stop();
  profiler::leaveForkGuard(&recording_);
  // In a forked child the drain thread and the sink's own threads do not exist: neither can be stopped.
  if (state_->in_child) (void)state_.release();
}

// --- control -------------------------------------------------------------------------------------------

Status Profiler::start(std::unique_ptr<TraceSink> sink, RecordingOptions options) {
  State& s = *state_;
  if (s.in_child) {
    return fail(ErrorCode::unsupported,
                "recording cannot start in a forked child with its parent's profiler: create a new one");
  }
  const ScopedLock control(s.control_mutex);
  if (s.drain_thread != nullptr) {
    return fail(ErrorCode::invalidInput, "the profiler is already recording: stop() it first");
  }
  s.begin(std::move(sink), options.ring_path);
  s.self_ns = 0;
  s.stopping = false;
  (void)s.waker.take();
  recording_.store(true, std::memory_order_relaxed);
  s.drain_thread = quietThread([&s] { s.drainLoop(); });
  SiteRegistry::recordingStarted(*this);
  return {};
}

void Profiler::State::begin(std::unique_ptr<TraceSink> new_sink, const std::string& ring_path) {
  profiler::RingFile::Start start;
  start.clock = profiler::sampleClocks();
  start.process = profiler::describeProcess(options.rank);
  start.ticks_are_ns = !profiler::clock_is_tsc;
  start.unix_ns = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  std::string where = "memory";
  if (!ring_path.empty()) {
    auto made = profiler::RingFile::create(ring_path, start);
    where = made.has_value() ? "file" : "memory: " + made.error().message;
    if (made.has_value()) setFile(std::move(made).value());
  }
  logs.keepIn(file.get());
  identities.keepIn(file.get());
  if (file != nullptr && logs.ringsInMemory() != 0) where = "partly memory: no space for the ring file";
  const ScopedLock lock(sink_mutex);
  const ScopedLock status_lock(status_mutex);
  first_failure.reset();
  sink = std::make_unique<profiler::ListenerSink>(std::move(new_sink));
  sink->setListener(listener);
  sink->meta(meta::kRecorderRings, where);
  drain = std::make_unique<profiler::Drain>(
      profiler::Drain::Setup{*sink, logs, identities, sources, file.get(), start});
  logs.setWaiting(true);
}

// The sink is finished. The ring file is no longer needed, unless it holds data that the sink could not
// store.
void Profiler::State::end() {
  logs.setWaiting(false);
  drain.reset();
  sink.reset();
  if (file == nullptr) return;
  identities.keepIn(nullptr);
  logs.keepIn(nullptr);
  if (file->header().lost == 0) file->remove();
  setFile(nullptr);
}

void Profiler::State::setFile(std::unique_ptr<profiler::RingFile> changed) {
  const ScopedLock lock(logs.mutex());  // a fork() on another thread reads it with this lock
  file.swap(changed);
}

Status Profiler::stop() {
  State& s = *state_;
  if (s.in_child) return {};
  const ScopedLock control(s.control_mutex);
  if (s.drain_thread == nullptr) return {};
  SiteRegistry::recordingStopped(*this);
  recording_.store(false, std::memory_order_relaxed);
  s.stopping = true;
  s.waker.signal();
  s.drain_thread->join();
  s.drain_thread.reset();
  return sinkStatus();
}

Status Profiler::sinkStatus() const {
  State& s = *state_;
  if (s.in_child) return {};
  const ScopedLock lock(s.status_mutex);
  if (s.first_failure) return fail(*s.first_failure);
  return {};
}

void Profiler::withSink(const std::function<void(TraceSink&)>& write) {
  State& s = *state_;
  if (s.in_child) return;
  const HoldsSink lock(s.sink_mutex);
  if (s.sink != nullptr) write(*s.sink);
}

void Profiler::setListener(RecordingListener* listener) {
  if (state_->in_child) return;
  const HoldsSink lock(state_->sink_mutex);
  state_->listener = listener;
  if (state_->sink != nullptr) state_->sink->setListener(listener);
}

Status Profiler::startForListener() { return start(profiler::discardingSink()); }

void Profiler::addSource(EventSource& source) {
  const ScopedLock lock(state_->sink_mutex);
  state_->sources.push_back(&source);
}

void Profiler::removeSource(EventSource& source) {
  if (state_->in_child) return;
  const ScopedLock lock(state_->sink_mutex);
  std::erase(state_->sources, &source);
}

Status Profiler::flush() { return state_->in_child ? Status{} : state_->drainOnce(); }

TimeNs Profiler::selfTime() const { return state_->self_ns.load(std::memory_order_relaxed); }

// --- the drain thread ----------------------------------------------------------------------------------

void Profiler::State::keepFirst(const Status& status) {
  const ScopedLock lock(status_mutex);
  if (!status.has_value() && !first_failure) first_failure = status.error();
}

Status Profiler::State::drainOnce() {
  const HoldsSink lock(sink_mutex);
  if (drain == nullptr) return {};
  Status status = drain->run();
  self_ns.store(drain->selfNs(), std::memory_order_relaxed);
  keepFirst(status);
  return status;
}

void Profiler::State::drainLoop() {
  using Clock = std::chrono::steady_clock;
  const bool periodic = options.flush_interval_ms > 0;
  const std::chrono::milliseconds interval(periodic ? options.flush_interval_ms : 3'600'000);
  auto next = Clock::now() + interval;
  while (!stopping) {
    bool asked = waker.sleep(next);
    if (!periodic) continue;
    if (!asked && Clock::now() < next) continue;
    // At full rate no pause between drains.
    do {
      (void)drainOnce();
      asked = waker.take();
    } while (!stopping && (asked || logs.anyHalfFull()));
    next = Clock::now() + interval;
  }
  const HoldsSink lock(sink_mutex);
  keepFirst(drain->finish());
  self_ns.store(drain->selfNs(), std::memory_order_relaxed);
  end();
}

// --- identities ----------------------------------------------------------------------------------------

SiteId Profiler::site(std::string_view name, EventKind kind, std::string_view domain) {
  profiler::Site site{std::string(name), kind, ""};
  if (!domain.empty()) site.args = "\"domain\":" + jsonString(std::string(domain));
  return state_->identities.add(site);
}

SiteId Profiler::siteWithArguments(std::string_view name, EventKind kind, std::string_view members) {
  return state_->identities.add({std::string(name), kind, std::string(members)});
}

namespace {
thread_local std::string t_operator_prefix;
}  // namespace

std::string Profiler::setOperatorPrefix(std::string prefix) {
  t_operator_prefix.swap(prefix);
  return prefix;
}

OperatorId Profiler::operatorFacts(const OperatorFacts& facts) {
  if (t_operator_prefix.empty()) return state_->identities.add(facts);
  OperatorFacts prefixed = facts;
  prefixed.name = t_operator_prefix + "::" + facts.name;
  return state_->identities.add(prefixed);
}

OperatorFacts Profiler::operatorFacts(OperatorId id) const { return state_->identities.facts(id.value); }

void Profiler::nameThread(std::string_view name) { state_->logs.nameThisThread(name); }

void Profiler::setThreadDevice(std::uint8_t device) { profiler::rememberThreadDevice(device); }

CorrelationId Profiler::newCorrelation() {
  static std::atomic<CorrelationId> next{CorrelationId{1} << 48U};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void Profiler::useClock(RecorderClock clock) {
  profiler::clock_is_tsc = clock == RecorderClock::automatic && profiler::tscIsInvariant();
}

}  // namespace pitwall
