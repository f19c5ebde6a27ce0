#include "runtime/profiler/drain.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "db/meta.h"
#include "db/redact.h"

namespace pitwall::profiler {

namespace {

TimeNs threadCpuNs() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<TimeNs>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

ProcessInfo describeProcess(int rank) {
  ProcessInfo process;
  process.pid = getpid();
  process.rank = rank;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(std::move(argument));
  if (arguments.empty()) return process;
  process.name = arguments[0].substr(arguments[0].find_last_of('/') + 1);
  for (const std::string& shown : redactArguments(arguments))
    process.command_line += (process.command_line.empty() ? "" : " ") + shown;
  return process;
}

Drain::Drain(const Setup& setup)
    : sink_(setup.sink),
      logs_(setup.logs),
      sources_(setup.sources),
      file_(setup.file),
      clock_(setup.start.clock, setup.start.ticks_are_ns),
      process_((setup.sink.meta(meta::kTraceStartUnixNs, std::to_string(setup.start.unix_ns)),
                setup.sink.process(setup.start.process))),
      decoder_(setup.sink, setup.identities, process_) {
  if (file_ != nullptr) file_->header().process = process_.value;
  // A second pair immediately: with only one, the frequency of the ticks in the file of a program killed now
  // would be unknown.
  addClockPair();
  for (const auto& log : logs_.all()) {
    log->track = {};
    log->events = 0;
    log->ring->track = 0;
    release(*log->ring, log->ring->head.load(std::memory_order_acquire), 0);
    (void)takeDrops(*log->ring);
  }
}

Status Drain::finish() {
  (void)run(true);
  addClockPair();
  sendOwnSpan();
  sink_.meta(meta::kRecorderSelfNs, std::to_string(self_ns_));
  return sink_.finish();
}

// The map and the file get the same pairs, so that the completion of a killed recording converts as the drains did.
void Drain::addClockPair() {
  const Ticks before = clock_.latest().ticks;
  clock_.add(sampleClocks());
  if (file_ != nullptr && clock_.latest().ticks != before) file_->addClockPair(clock_.latest());
}

TimeNs Drain::toNs(Ticks ticks) {
  if (ticks > clock_.latest().ticks && ticks <= readClock()) addClockPair();
  return clock_.toNs(ticks);
}

std::vector<Drain::Work> Drain::collect() {
  std::vector<Work> work;
  for (auto& log : logs_.all()) {
    const bool ended = log->ended.load(std::memory_order_acquire);
    const std::uint64_t head = log->ring->head.load(std::memory_order_acquire);
    work.push_back({std::move(log), ended, head});
  }
  // Taken after reading the heads, so that no record's time is after the pair, and none is extrapolated.
  addClockPair();
  return work;
}

Status Drain::run(bool is_last) {
  const TimeNs cpu_before = threadCpuNs();
  const Ticks started = readClock();
  const std::vector<Work> work = collect();
  const TimeNs collected_ns = clock_.endNs();
  sent_ = 0;
  sendOwnSpan();
  for (const Work& w : work) {
    drainRing(*w.log, w.head);
    reportDrops(*w.log);
  }
  decoder_.sendIterations();
  dependencies_sent_ += decoder_.sendDependencies();
  decoder_.sendCounters();
  drainSources(is_last);
  if (const std::uint64_t lost = logs_.takeUnrecorded(); lost != 0) {
    sink_.loss({{}, 0, clock_.endNs(), static_cast<std::int64_t>(lost), "no memory for a thread's ring"});
  }
  sink_.meta(meta::kRecorderSelfNs, std::to_string(self_ns_));
  sink_.meta(meta::kTraceEndNs, std::to_string(clock_.endNs()));
  Status status = sink_.flush();
  for (const Work& w : work) {
    release(*w.log->ring, w.head, w.log->events);
    if (!w.ended) continue;
    threads_.erase(w.log->tid);  // the system may reuse the number for another thread
    logs_.recycle(w.log);
  }
  if (file_ != nullptr) file_->header().dependencies_released = dependencies_sent_;
  if (status.has_value()) {
    flushed_ns_ = collected_ns;
  } else if (file_ != nullptr && sent_ != 0) {
    file_->addLost(static_cast<std::int64_t>(sent_), flushed_ns_, clock_.endNs(), status.error().message);
  }
  self_ns_ += threadCpuNs() - cpu_before;
  own_pending_ = true;
  own_started_ = started;
  own_finished_ = readClock();
  return status;
}

void Drain::drainRing(ThreadLog& log, std::uint64_t head) {
  Ring& ring = *log.ring;
  const std::uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  if (head == tail) return;
  ring.taken.store(head, std::memory_order_relaxed);
  if (ring.policy.load(std::memory_order_relaxed) ==
      static_cast<std::uint32_t>(ring::RingPolicy::overwrite)) {
    const std::uint64_t from = copyValid(ring, tail, head);
    if (from > tail) reportOverwritten(log, from - tail, copy_[from & (ring.capacity - 1)]);
    decoder_.decode(copy_.data(), ring.capacity, from, head, clock_);
  } else {
    decoder_.decode(recordsOf(ring), ring.capacity, tail, head, clock_);
  }
  if (!decoder_.hasEvents()) return;
  const std::uint64_t events = decoder_.sendEvents(trackOf(log));
  log.events += events;
  sent_ += events;
}

// The writer continues meanwhile: records that it may have overwritten during the copy are invalid. Returns
// the start of the valid records. These reads race by design and are hidden from ThreadSanitizer; copied word
// by word, since it would intercept memcpy.
__attribute__((no_sanitize("thread"))) std::uint64_t Drain::copyValid(const Ring& ring, std::uint64_t from,
                                                                      std::uint64_t to) {
  copy_.resize(ring.capacity);
  if (to - from > ring.capacity) from = to - ring.capacity;
  using Word __attribute__((may_alias)) = std::uint64_t;
  for (std::uint64_t i = from; i < to; ++i) {
    const std::uint64_t at = i & (ring.capacity - 1);
    const auto* const source = reinterpret_cast<const volatile Word*>(recordsOf(ring) + at);
    auto* const target = reinterpret_cast<Word*>(&copy_[at]);
    for (std::size_t word = 0; word < sizeof(Record) / sizeof(Word); ++word) target[word] = source[word];
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t now = ring.head.load(std::memory_order_acquire) + ring::kMostRecords;
  if (now > ring.capacity) from = std::max(from, now - ring.capacity);
  return std::min(from, to);
}

void Drain::reportOverwritten(ThreadLog& log, std::uint64_t count, const Record& first_kept) {
  const TimeNs to = first_kept.kind < ring::kFirstContinuation ? clock_.toNs(first_kept.a + first_kept.b) : 0;
  sink_.loss({trackOf(log), std::min(flushed_ns_, to), to == 0 ? clock_.endNs() : to,
              static_cast<std::int64_t>(count), "ring full: its oldest records were overwritten"});
}

void Drain::reportDrops(ThreadLog& log) {
  const Drops drops = takeDrops(*log.ring);
  if (drops.count == 0 || drops.to < clock_.startTicks()) return;
  const TimeNs from = toNs(drops.from), to = toNs(drops.to);
  sink_.loss({trackOf(log), from, to, static_cast<std::int64_t>(drops.count), "ring full"});
}

void Drain::sendOwnSpan() {
  if (!own_pending_) return;
  own_pending_ = false;
  if (!own_track_) {
    const ThreadId thread = sink_.thread({process_, syscall(SYS_gettid), "pitwall recorder"});
    own_track_ = sink_.track({TrackKind::thread, process_, thread, {}, "pitwall recorder", ""});
    own_name_ = sink_.string("drain");
  }
  Event own;
  own.kind = EventKind::recorder;
  own.name = own_name_;
  own.start_ns = own.pushed_ns = own.ready_ns = clock_.toNs(own_started_);
  own.dur_ns = clock_.toNs(own_finished_) - own.start_ns;
  sink_.events(own_track_, {&own, 1});
}

DeviceId Drain::deviceOf(const Ring& ring) {
  const std::uint32_t device = ring.device.load(std::memory_order_relaxed);
  return device == 0 ? DeviceId{} : sink_.device(ring::deviceOf(static_cast<std::uint8_t>(device - 1)));
}

TrackId Drain::trackOf(ThreadLog& log) {
  if (!log.track) {
    const std::string name = logs_.nameOf(log);
    const ThreadId thread = log.tid == 0 ? ThreadId{} : threadOf(log.tid, name);
    log.track = sink_.track({TrackKind::thread, process_, thread, deviceOf(*log.ring), name, ""});
    log.ring->track = log.track.value;
  }
  return log.track;
}

ThreadId Drain::threadOf(std::int64_t tid, const std::string& name) {
  ThreadId& thread = threads_[tid];
  if (!thread) thread = sink_.thread({process_, tid, name});
  return thread;
}

void Drain::drainSources(bool is_last) {
  class Context : public DrainContext {
   public:
    Context(Drain& drain, bool is_last) : drain_(drain), is_last_(is_last) {}
    TraceSink& sink() override { return drain_.sink_; }
    ProcessId process() const override { return drain_.process_; }
    TimeNs toNs(Ticks ticks) const override { return drain_.toNs(ticks); }
    Ticks startTicks() const override { return drain_.clock_.startTicks(); }
    ThreadId threadOf(std::int64_t tid) override {
      for (const auto& log : drain_.logs_.all()) {
        if (log->tid == tid) return drain_.threadOf(tid, drain_.logs_.nameOf(*log));
      }
      return drain_.threadOf(tid, tid == getpid() ? "main" : "thread");
    }
    TrackId trackOf(const Ring& ring) override {
      for (const auto& log : drain_.logs_.all()) {
        if (log->ring == &ring) return drain_.trackOf(*log);
      }
      return {};
    }
    bool isLast() const override { return is_last_; }

   private:
    Drain& drain_;
    const bool is_last_;
  };
  Context context(*this, is_last);
  for (EventSource* const source : sources_) source->drain(context);
}

}  // namespace pitwall::profiler
