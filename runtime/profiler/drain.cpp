#include "runtime/profiler/drain.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <string>

#include "db/meta.h"

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
  std::string line{std::istreambuf_iterator<char>(file), {}};
  while (!line.empty() && line.back() == '\0') line.pop_back();
  const std::string program = line.substr(0, line.find('\0'));
  process.name = program.substr(program.find_last_of('/') + 1);
  std::replace(line.begin(), line.end(), '\0', ' ');
  process.command_line = line;
  return process;
}

Drain::Drain(TraceSink& sink, ThreadLogs& logs, const Identities& identities, int rank,
             const std::vector<EventSource*>& sources)
    : sink_(sink), logs_(logs), identities_(identities), sources_(sources), clock_(sampleClocks()) {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const std::int64_t wall_ns = static_cast<std::int64_t>(wall.tv_sec) * 1'000'000'000 + wall.tv_nsec;
  sink_.meta(meta::kTraceStartUnixNs, std::to_string(wall_ns));
  process_ = sink_.process(describeProcess(rank));
  for (const auto& log : logs_.all()) {
    log->track = {};
    log->ring->release(log->ring->head());
    (void)log->ring->takeDrops();
  }
}

Status Drain::finish() {
  (void)run(true);
  sendOwnSpan();
  sink_.meta(meta::kRecorderSelfNs, std::to_string(self_ns_));
  return sink_.finish();
}

Status Drain::run(bool is_last) {
  const TimeNs cpu_before = threadCpuNs();
  const Ticks started = Profiler::now();
  struct Work {
    std::shared_ptr<ThreadLog> log;
    bool ended;
    std::uint64_t head;
  };
  std::vector<Work> work;
  for (auto& log : logs_.all()) {
    const bool ended = log->ended.load(std::memory_order_acquire);
    const std::uint64_t head = log->ring->head();
    work.push_back({std::move(log), ended, head});
  }
  // After the heads were read: so no record's time lies beyond the pair, and none is extrapolated.
  clock_.add(sampleClocks());
  sendOwnSpan();
  for (const Work& w : work) {
    drainRing(*w.log, w.head);
    reportDrops(*w.log);
    if (!w.ended) continue;
    threads_.erase(w.log->tid);  // the system may give the number to another thread
    logs_.recycle(w.log);
  }
  sendCounters();
  askSources(is_last);
  if (const std::uint64_t lost = logs_.takeUnrecorded(); lost != 0) {
    sink_.loss({{}, 0, clock_.endNs(), static_cast<std::int64_t>(lost), "no memory for a thread's ring"});
  }
  sink_.meta(meta::kRecorderSelfNs, std::to_string(self_ns_));
  sink_.meta(meta::kTraceEndNs, std::to_string(clock_.endNs()));
  Status status = sink_.flush();
  self_ns_ += threadCpuNs() - cpu_before;
  own_pending_ = true;
  own_event_.kind = EventKind::recorder;
  own_event_.start_ns = own_event_.pushed_ns = own_event_.ready_ns = clock_.toNs(started);
  own_event_.dur_ns = clock_.toNs(Profiler::now()) - own_event_.start_ns;
  return status;
}

void Drain::drainRing(ThreadLog& log, std::uint64_t head) {
  const std::uint64_t tail = log.ring->tail();
  if (head == tail) return;
  events_.clear();
  announced_.clear();
  dependencies_.clear();
  for (std::uint64_t i = tail; i < head;) i += convert(*log.ring, i);
  log.ring->release(head);  // before the sink is called: it may be slow
  setDepths();
  if (!events_.empty()) sink_.events(trackOf(log), events_);
  if (!dependencies_.empty()) sink_.dependencies(dependencies_);
}

// Returns how many records it took.
std::uint64_t Drain::convert(const Ring& ring, std::uint64_t index) {
  const Record& record = ring.at(index);
  switch (record.kind) {
    case RecordKind::span: convertSpan(record, 0); return 1;
    case RecordKind::spanLinked: convertSpan(record, ring.at(index + 1).a); return 2;
    case RecordKind::instant: convertSpan(record, 0); return 1;
    case RecordKind::operatorRun: convertOperator(record, ring.at(index + 1)); return 2;
    case RecordKind::dependency:
      dependencies_.push_back({record.a, record.b, static_cast<DependencyKind>(record.detail)});
      return 1;
    case RecordKind::counter:
      if (record.a >= clock_.startTicks()) {
        siteOf(record.id).samples.push_back({clock_.toNs(record.a), std::bit_cast<double>(record.c)});
      }
      return 1;
    case RecordKind::iteration:
      if (record.a >= clock_.startTicks()) {
        sink_.iteration({static_cast<std::int64_t>(record.b), clock_.toNs(record.a),
                         static_cast<std::int64_t>(record.c)});
      }
      return 1;
  }
  PITWALL_CHECK(false, "record kind %d", static_cast<int>(record.kind));
}

void Drain::convertSpan(const Record& record, CorrelationId correlation) {
  if (record.a + record.b < clock_.startTicks()) return;  // left over from an earlier recording
  const Site& site = siteOf(record.id);
  Event event;
  event.start_ns = event.pushed_ns = event.ready_ns = clock_.toNs(record.a);
  event.dur_ns = clock_.toNs(record.a + record.b) - event.start_ns;
  event.correlation = correlation;
  event.value = static_cast<std::int64_t>(record.c);
  event.name = site.name;
  event.kind = record.kind == RecordKind::instant ? EventKind::instant : site.kind;
  event.depth = record.depth;
  events_.push_back(event);
  announced_.push_back(record.detail == kAnnounced);
}

void Drain::convertOperator(const Record& record, const Record& times) {
  if (record.a + record.b < clock_.startTicks()) return;
  Event event;
  event.kind = EventKind::operatorRun;
  event.start_ns = clock_.toNs(record.a);
  event.dur_ns = clock_.toNs(record.a + record.b) - event.start_ns;
  event.ready_ns = times.b == 0 ? event.start_ns : std::min(clock_.toNs(times.b), event.start_ns);
  event.pushed_ns = times.a == 0 ? event.ready_ns : std::min(clock_.toNs(times.a), event.ready_ns);
  event.correlation = record.c;
  event.name = operatorName(record.id);
  event.op = operators_[record.id].id;
  event.depth = record.depth;
  events_.push_back(event);
  announced_.push_back(record.detail == kAnnounced);
}

// Announced scopes are counted by the recording thread. What encloses without having been announced (a bulk
// segment) is found here: records come in the order they end, so walking backwards meets the encloser first.
// An encloser that ends in a later drain is missed.
void Drain::setDepths() {
  struct Open {
    TimeNs start, end;
    bool announced;
  };
  std::vector<Open> open;
  for (std::size_t i = events_.size(); i-- > 0;) {
    Event& event = events_[i];
    const TimeNs end = event.start_ns + event.dur_ns;
    while (!open.empty() && (event.start_ns < open.back().start || end > open.back().end)) open.pop_back();
    std::uint16_t unannounced = 0;
    for (const Open& encloser : open) {
      if (!encloser.announced) ++unannounced;
    }
    if (event.dur_ns > 0) open.push_back({event.start_ns, end, announced_[i]});
    event.depth = static_cast<std::uint16_t>(event.depth + unannounced);
  }
}

void Drain::reportDrops(ThreadLog& log) {
  const Ring::Drops drops = log.ring->takeDrops();
  if (drops.count == 0 || drops.to < clock_.startTicks()) return;
  sink_.loss({trackOf(log), clock_.toNs(drops.from), clock_.toNs(drops.to),
              static_cast<std::int64_t>(drops.count), "ring full"});
}

void Drain::sendCounters() {
  for (std::size_t id = 0; id < sites_.size(); ++id) {
    Site& site = sites_[id];
    if (site.samples.empty()) continue;
    if (!site.counter_track) {
      const std::string text = identities_.site(SiteId{static_cast<std::uint32_t>(id)}).name;
      const std::size_t bar = text.find('|');
      TrackInfo track;
      track.kind = TrackKind::counter;
      track.process = process_;
      track.name = text.substr(0, bar);
      if (bar != std::string::npos) track.unit = text.substr(bar + 1);
      site.counter_track = sink_.track(track);
    }
    sink_.counters(site.counter_track, site.samples);
    site.samples.clear();
  }
}

void Drain::sendOwnSpan() {
  if (!own_pending_) return;
  own_pending_ = false;
  if (!own_track_) {
    const ThreadId thread = sink_.thread({process_, syscall(SYS_gettid), "pitwall recorder"});
    own_track_ = sink_.track({TrackKind::thread, process_, thread, {}, "pitwall recorder", ""});
    own_name_ = sink_.string("drain");
  }
  own_event_.name = own_name_;
  sink_.events(own_track_, {&own_event_, 1});
}

TrackId Drain::trackOf(ThreadLog& log) {
  if (!log.track) {
    const std::string name = logs_.nameOf(log);
    const ThreadId thread = threadOf(log.tid, name);
    log.track = sink_.track({TrackKind::thread, process_, thread, {}, name, ""});
  }
  return log.track;
}

ThreadId Drain::threadOf(std::int64_t tid, const std::string& name) {
  ThreadId& thread = threads_[tid];
  if (!thread) thread = sink_.thread({process_, tid, name});
  return thread;
}

void Drain::askSources(bool is_last) {
  class Context : public DrainContext {
   public:
    Context(Drain& drain, bool is_last) : drain_(drain), is_last_(is_last) {}
    TraceSink& sink() override { return drain_.sink_; }
    ProcessId process() const override { return drain_.process_; }
    TimeNs toNs(Ticks ticks) const override { return drain_.clock_.toNs(ticks); }
    Ticks startTicks() const override { return drain_.clock_.startTicks(); }
    ThreadId threadOf(std::int64_t tid) override {
      for (const auto& log : drain_.logs_.all()) {
        if (log->tid == tid) return drain_.threadOf(tid, drain_.logs_.nameOf(*log));
      }
      return drain_.threadOf(tid, tid == getpid() ? "main" : "thread");
    }
    bool isLast() const override { return is_last_; }

   private:
    Drain& drain_;
    const bool is_last_;
  };
  Context context(*this, is_last);
  for (EventSource* const source : sources_) source->drain(context);
}

Drain::Site& Drain::siteOf(std::uint32_t id) {
  if (id >= sites_.size()) sites_.resize(id + 1);
  Site& site = sites_[id];
  if (!site.known) {
    const profiler::Site told = identities_.site(SiteId{id});
    site.name = sink_.string(told.name);
    site.kind = told.kind;
    site.known = true;
  }
  return site;
}

StringId Drain::operatorName(std::uint32_t id) {
  if (id >= operators_.size()) operators_.resize(id + 1);
  Operator& op = operators_[id];
  if (!op.name) {
    const OperatorFacts facts = identities_.facts(OperatorId{id});
    if (id != 0) op.id = sink_.operatorFacts(facts);
    op.name = sink_.string(facts.name.empty() ? "operator" : facts.name);
  }
  return op.name;
}

}  // namespace pitwall::profiler
