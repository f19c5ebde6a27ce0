// Adds the last records of a killed recording to its trace, each exactly once.
//
// The recorder frees a ring's space only after the trace has committed the events read from it, and then
// notes how many events of that ring's track the trace has up to the new tail. After a kill the trace may
// therefore hold more events than noted: the difference between its own count and the note is the number of
// the ring's events to skip. Dependencies and samples of one drain are written in one call each, so that the
// trace has all or none of them.
#include "db/recovery/complete.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "db/meta.h"
#include "db/recovery/ring_file_reader.h"
#include "db/sqlite/append_trace.h"

namespace pitwall::recovery {

namespace {

class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }
  bool isOpen() const { return descriptor_ >= 0; }
  // The recorder locks byte 0, the process that completes the trace locks byte 1.
  bool lockByte(off_t byte, bool wait) const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return fcntl(descriptor_, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0;
  }

 private:
  const int descriptor_;
};

class Completer {
 public:
  Completer(const RingFileReader& rings, store::Appending& trace)
      : rings_(rings),
        trace_(trace),
        clock_(rings.clock()),
        process_(process()),
        decoder_(*trace.sink, rings, process_) {}

  Completion run();

 private:
  ProcessId process();
  DeviceId deviceOf(const ring::RingHeader& ring);
  TrackId trackOf(const ring::RingHeader& ring);
  void addRing(const ring::RingHeader& ring);
  bool addOpenOperator(const ring::RingHeader& ring);
  void addOpenScopes(const ring::RingHeader& ring);
  void addLoss(const ring::RingHeader& ring, TrackId track);

  const RingFileReader& rings_;
  store::Appending& trace_;
  ring::ClockMap clock_;
  const ProcessId process_;
  ring::RingDecoder decoder_;
  Completion done_;
  TimeNs end_ns_ = 0;
};

ProcessId Completer::process() {
  const ring::FileHeader& header = rings_.header();
  const std::uint32_t recorded = header.process.load();
  if (recorded != 0 && recorded <= trace_.existing.processes.size()) return ProcessId{recorded};
  ProcessInfo info;
  info.pid = header.pid;
  info.rank = static_cast<int>(header.rank);
  info.name.assign(header.process_name, strnlen(header.process_name, sizeof header.process_name));
  info.command_line.assign(header.command_line, strnlen(header.command_line, sizeof header.command_line));
  return trace_.sink->process(info);
}

DeviceId Completer::deviceOf(const ring::RingHeader& ring) {
  const std::uint32_t recorded = ring.device.load();
  if (recorded == 0 || recorded > UINT8_MAX + 1) return {};
  const DeviceInfo named = ring::deviceOf(static_cast<std::uint8_t>(recorded - 1));
  std::vector<DeviceInfo>& known = trace_.existing.devices;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].kind == named.kind && known[i].index == named.index)
      return DeviceId{static_cast<std::uint32_t>(i + 1)};
  }
  known.push_back(named);
  return trace_.sink->device(named);
}

TrackId Completer::trackOf(const ring::RingHeader& ring) {
  const std::uint32_t recorded = ring.track.load();
  if (recorded != 0 && recorded <= trace_.existing.tracks.size()) return TrackId{recorded};
  const std::string name(ring.thread_name, strnlen(ring.thread_name, sizeof ring.thread_name));
  ThreadId thread;
  for (std::size_t i = 0; ring.tid != 0 && i < trace_.existing.threads.size(); ++i) {
    const ThreadInfo& known = trace_.existing.threads[i];
    if (known.process == process_ && known.tid == ring.tid && known.name == name)
      thread = ThreadId{static_cast<std::uint32_t>(i + 1)};
  }
  if (!thread && ring.tid != 0) thread = trace_.sink->thread({process_, ring.tid, name});
  return trace_.sink->track({TrackKind::thread, process_, thread, deviceOf(ring), name, ""});
}

void Completer::addRing(const ring::RingHeader& ring) {
  const std::uint64_t head = ring.head.load(std::memory_order_acquire);
  const auto released = ring.released[ring.releases.load() & 1U];
  // The writer may have been about to overwrite records this far behind.
  const bool overwrites = ring.policy.load() == static_cast<std::uint32_t>(ring::RingPolicy::overwrite);
  const std::uint64_t kept =
      overwrites ? ring.capacity - std::min<std::uint64_t>(ring.capacity, ring::kMostRecords) : ring.capacity;
  const std::uint64_t from = std::max(released.tail, head > kept ? head - kept : 0);
  if (from > head) return;  // damaged
  const std::uint64_t taken = std::clamp(ring.taken.load(), from, head);
  const auto* const records =
      reinterpret_cast<const ring::Record*>(reinterpret_cast<const char*>(&ring) + ring::kPage);
  const std::size_t of_other_rings = decoder_.dependencyCount();
  decoder_.decode(records, ring.capacity, from, taken, clock_);
  if (trace_.dependencies > static_cast<std::int64_t>(rings_.header().dependencies_released.load()))
    decoder_.skipDependenciesFrom(of_other_rings);
  decoder_.decode(records, ring.capacity, taken, head, clock_);
  const std::uint32_t track = ring.track.load();
  std::uint64_t skip = 0;
  if (track != 0 && track <= trace_.events.size()) {
    const auto there = static_cast<std::uint64_t>(trace_.events[track - 1]);
    skip = there > released.events ? there - released.events : 0;
  }
  addOpenScopes(ring);
  if (!decoder_.hasEvents() && ring.dropped.load() == ring.dropped_seen.load()) return;
  const TrackId to = trackOf(ring);
  const std::uint64_t events = decoder_.sendEvents(to, skip);
  done_.events += static_cast<std::int64_t>(events - std::min(events, skip));
  addLoss(ring, to);
}

const ring::Record& recordAt(const ring::RingHeader& ring, std::uint64_t index) {
  const auto* const records =
      reinterpret_cast<const ring::Record*>(reinterpret_cast<const char*>(&ring) + ring::kPage);
  return records[index & (ring.capacity - 1)];
}

// Whether the program was killed between the record of the scope's end and the removal of the scope.
bool hasEnded(const ring::RingHeader& ring, const ring::OpenScope& scope) {
  const std::uint64_t head = ring.head.load(std::memory_order_acquire);
  const std::uint64_t most = std::min<std::uint64_t>({head, ring.capacity, ring::kMostRecords});
  for (std::uint64_t back = 1; back <= most; ++back) {
    const ring::Record& record = recordAt(ring, head - back);
    if (record.kind >= ring::kFirstContinuation) continue;
    return record.kind == ring::RecordKind::span && record.a == scope.started &&
           record.id == static_cast<std::uint32_t>(scope.site);
  }
  return false;
}

// False when no operator of the ring's device is open. After a kill between the record of its end and the end of its
// scope, other records are at `head`.
bool Completer::addOpenOperator(const ring::RingHeader& ring) {
  if (ring.depth.load() != 1 || ring.scopes[0].site != ring::kOpenOperator) return false;
  const std::uint64_t head = ring.head.load(std::memory_order_acquire);
  const ring::Record& record = recordAt(ring, head);
  if (record.a == ring.scopes[0].started &&
      decoder_.addOpenOperator(record, recordAt(ring, head + 1), end_ns_, clock_))
    ++done_.open_scopes;
  return true;
}

void Completer::addOpenScopes(const ring::RingHeader& ring) {
  if (addOpenOperator(ring)) return;
  const std::uint32_t depth = std::min(ring.depth.load(), ring::RingHeader::kScopes);
  for (std::uint32_t i = 0; i < depth; ++i) {
    if (hasEnded(ring, ring.scopes[i])) continue;
    if (decoder_.addOpenScope(ring.scopes[i], static_cast<std::uint16_t>(i), end_ns_, clock_))
      ++done_.open_scopes;
  }
}

void Completer::addLoss(const ring::RingHeader& ring, TrackId track) {
  const std::uint64_t dropped = ring.dropped.load() - ring.dropped_seen.load();
  if (dropped == 0) return;
  trace_.sink->loss({track, clock_.toNs(ring.drop_first.load()), clock_.toNs(ring.drop_last.load()),
                     static_cast<std::int64_t>(dropped), "ring full"});
}

// The latest time in any record: the known end of scopes that were open.
TimeNs lastMoment(const RingFileReader& rings, const ring::ClockMap& clock) {
  TimeNs last = clock.endNs();
  for (const ring::RingHeader* ring : rings.rings()) {
    const std::uint64_t head = ring->head.load(std::memory_order_acquire);
    for (std::uint64_t i = head; i > 0 && i + 8 > head; --i) {
      const ring::Record& record = recordAt(*ring, i - 1);
      if (record.kind == ring::RecordKind::span || record.kind == ring::RecordKind::operatorRun)
        last = std::max(last, clock.toNs(record.a + record.b));
    }
    const std::uint32_t depth = std::min(ring->depth.load(), ring::RingHeader::kScopes);
    for (std::uint32_t i = 0; i < depth; ++i) last = std::max(last, clock.toNs(ring->scopes[i].started));
  }
  return last;
}

Completion Completer::run() {
  const ring::FileHeader& header = rings_.header();
  end_ns_ = lastMoment(rings_, clock_);
  TraceSink& sink = *trace_.sink;
  if (trace_.existing.meta.count(meta::kTraceStartUnixNs) == 0)
    sink.meta(meta::kTraceStartUnixNs, std::to_string(header.start_unix_ns));
  for (const ring::RingHeader* ring : rings_.rings()) addRing(*ring);
  for (std::size_t i = 0; i < trace_.existing.tracks.size(); ++i) {
    const TrackInfo& track = trace_.existing.tracks[i];
    if (track.kind == TrackKind::counter)
      decoder_.skipSamplesUpTo(track.name, trace_.last_sample_ns[i],
                               TrackId{static_cast<std::uint32_t>(i + 1)});
  }
  if (!trace_.existing.iterations.empty())
    decoder_.skipIterationsUpTo(trace_.existing.iterations.back().index);
  decoder_.sendIterations();
  decoder_.sendDependencies();
  decoder_.sendCounters();
  if (header.lost.load() != 0) {
    const std::string why(header.lost_reason, strnlen(header.lost_reason, sizeof header.lost_reason));
    sink.loss({{}, header.lost_from_ns.load(), header.lost_to_ns.load(), header.lost.load(), why});
  }
  if (rings_.isCutOff())
    sink.loss({{}, 0, end_ns_, 1, "the ring file of the killed recording was truncated"});
  sink.meta(meta::kTraceEndNs, std::to_string(end_ns_));
  sink.meta(meta::kRecorderCompleted, std::to_string(done_.events));
  if (Status status = sink.flush(); !status.has_value())
    done_.problem = "the records in its rings could not be added: " + status.error().message;
  return done_;
}

bool belongsTo(const RingFileReader& rings, const store::Appending& trace) {
  if (trace.existing.meta.count(meta::kComplete) != 0) return false;
  const auto start = trace.existing.meta.find(meta::kTraceStartUnixNs);
  return start == trace.existing.meta.end() || start->second == std::to_string(rings.header().start_unix_ns);
}

Completion failed(std::string problem) {
  Completion done;
  done.problem =
      "the recording was killed, and the records in its rings are not in the trace: " + std::move(problem);
  return done;
}

}  // namespace

Completion completeTrace(const std::string& trace_path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(trace_path, error);
  const std::string path = ring::filePath(error ? trace_path : target.string());
  const File file(path);
  if (!file.isOpen()) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return failed(fmt::format("'{}' cannot be opened for writing: {}; make it and its folder writable", path,
                              std::strerror(errno)));
  }
  if (!file.lockByte(1, true))
    return failed(fmt::format("'{}' cannot be locked: {}", path, std::strerror(errno)));
  if (!file.lockByte(0, false)) return {};  // it is being recorded
  struct stat state {};
  if (fstat(file.descriptor(), &state) != 0 || state.st_nlink == 0)
    return {};  // another one has completed it
  auto rings = RingFileReader::open(file.descriptor(), static_cast<std::size_t>(state.st_size), path);
  if (!rings.has_value()) return failed(rings.error().message);
  auto trace = store::appendTrace(trace_path);
  if (!trace.has_value()) return failed(trace.error().message);
  if (!belongsTo(**rings, *trace)) return {};
  Completion done = Completer(**rings, *trace).run();
  if (done.problem.empty()) ::unlink(path.c_str());
  return done;
}

}  // namespace pitwall::recovery
