// A program that records into a trace until it is killed: victim MODE TRACE COUNTS. COUNTS is a file of
// 64-bit numbers with what it has recorded, for the process that kills it. Other arguments are ignored.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "db/store.h"
#include "runtime/profiler.h"
#include "runtime/record_macros.h"

namespace {

using namespace pitwall;

struct Counts {
  std::atomic<std::uint64_t> spans[2];  // recorded by each thread
  std::atomic<std::uint64_t> iterations;
  std::atomic<std::uint64_t> ready;
};

Counts& mapCounts(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) _exit(3);
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) _exit(3);
  return *static_cast<Counts*>(memory);
}

bool begin(Profiler& profiler, const std::string& trace) {
  auto sink = createTrace(trace);
  if (!sink.has_value()) return std::fprintf(stderr, "%s\n", sink.error().message.c_str()), false;
  return profiler.start(std::move(sink).value(), {.ring_path = ring::filePath(trace)}).has_value();
}

// Two threads at full rate, with dependencies and iterations in between, endlessly.
void recordForEver(Profiler& profiler, Counts& counts) {
  const SiteId work = profiler.site("work", EventKind::scope);
  const auto body = [&](int thread) {
    profiler.nameThread("thread " + std::to_string(thread));
    if (thread == 1) profiler.setThreadDevice(1);  // cpu 1
    for (std::uint64_t i = 0;; ++i) {
      const Ticks now = Profiler::now();
      profiler.span(work, now, Profiler::now(), static_cast<std::int64_t>(i));
      counts.spans[thread].store(i + 1);
      if (thread == 0 && i % 64 == 0) {
        profiler.dependency({i / 64 + 1, i / 64 + 2, DependencyKind::flow});
        profiler.iteration(static_cast<std::int64_t>(i / 64), 1);
        counts.iterations.store(i / 64 + 1);
      }
      if (i == 100) ++counts.ready;
    }
  };
  std::thread other(body, 1);
  body(0);
}

// One thread starts operators of cpu 1, up to five at once and sometimes slower than the other, which completes them in
// another order.
void completeElsewhere(Profiler& profiler, Counts& counts) {
  constexpr int kOpen = 5;
  struct Started {
    std::atomic<bool> is_open{false};
    Profiler::OperatorRun run;
    std::uint16_t track = 0;
  };
  static Started started[kOpen];
  OperatorFacts facts;
  facts.name = "Receive";
  const OperatorId op = profiler.operatorFacts(facts);
  std::thread other([&] {
    for (std::uint64_t done = 0;;) {
      for (int i = kOpen; i-- > 0;) {
        if (!started[i].is_open.load(std::memory_order_acquire)) continue;
        started[i].run.finished = Profiler::now();
        profiler.operatorRun(started[i].run, started[i].track);
        counts.spans[0].store(++done);
        started[i].is_open.store(false, std::memory_order_release);
        if (done == 100) counts.ready = 2;
      }
    }
  });
  for (std::uint64_t correlation = 1;;) {
    for (Started& next : started) {
      if (next.is_open.load(std::memory_order_acquire)) continue;
      next.track = profiler.takeDeviceTrack(1);
      const Ticks now = Profiler::now();
      next.run = {now, now, now, 0, correlation++, op, 1};
      profiler.operatorOpen(next.run, next.track);
      next.is_open.store(true, std::memory_order_release);
    }
  }
}

void waitToBeKilled(Counts& counts) {
  counts.ready = 2;
  for (;;) pause();
}

void openScopes(Profiler& profiler, Counts& counts) {
  PITWALL_THREAD("main");
  PITWALL_SCOPE_IN("outer", "loop");
  PITWALL_SCOPE("inner");
  { PITWALL_SCOPE("over"); }
  OperatorFacts facts;
  facts.name = "Convolution";
  facts.layer = "conv1";
  facts.flop = 7;
  const Ticks now = Profiler::now();
  profiler.operatorRun({now, now, now, Profiler::now(), 5, profiler.operatorFacts(facts)});
  PITWALL_COUNTER("queue|items", 3);
  waitToBeKilled(counts);
}

void recordSome(Profiler& profiler, int count) {
  const SiteId work = profiler.site("work", EventKind::scope);
  for (int i = 0; i < count; ++i) {
    const Ticks now = Profiler::now();
    profiler.span(work, now, Profiler::now(), i);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string mode = argv[1], trace = argv[2];
  Counts& counts = mapCounts(argv[3]);
  // Only the first drain, so that all records stay in the rings; else frequent drains, so that a kill hits
  // each of their steps.
  const bool only_rings = mode != "flood" && mode != "asynchronous";
  Profiler profiler({.flush_interval_ms = only_rings ? 0 : 1,
                     .ring_bytes = 1 << 16,
                     .when_full = only_rings ? RingPolicy::drop : RingPolicy::block});
  if (mode == "disk") {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600 * 1024, 600 * 1024};  // space for the rings and a little
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!begin(profiler, trace)) return 3;
  if (mode == "flood") recordForEver(profiler, counts);
  if (mode == "asynchronous") completeElsewhere(profiler, counts);
  if (mode == "open") openScopes(profiler, counts);
  if (mode == "exec") {
    recordSome(profiler, 500);
    execl("/bin/true", "true", nullptr);
    return 3;
  }
  if (mode == "fork") {
    recordSome(profiler, 500);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      waitToBeKilled(counts);  // outlives its parent, and must not keep the trace from being completed
    }
    counts.spans[0] = static_cast<std::uint64_t>(child);
    while (counts.ready != 2) usleep(1000);
    raise(SIGKILL);
  }
  if (mode == "disk") {
    for (int i = 0; i < 10'000 && profiler.sinkStatus().has_value(); ++i) {
      recordSome(profiler, 1500);
      (void)profiler.flush();
    }
    recordSome(profiler, 1000);
    (void)profiler.flush();
    const bool failed = !profiler.sinkStatus().has_value();
    const bool running = profiler.isRecording();
    const bool reported = !profiler.stop().has_value();
    return failed && running && reported ? 0 : 4;
  }
  return 2;
}
