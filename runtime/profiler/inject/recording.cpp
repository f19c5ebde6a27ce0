#include "runtime/profiler/inject/recording.h"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sstream>
#include <string>

#include "db/meta.h"
#include "db/mutex.h"
#include "db/ring_format.h"
#include "db/store.h"
#include "runtime/profiler/cupti/collector.h"
#include "runtime/profiler/inject/environment.h"
#include "runtime/profiler/inject/window_sink.h"
#include "runtime/profiler/nvtx/callbacks.h"
#include "runtime/profiler/trace_path.h"

namespace pitwall::inject {

namespace {

// Never destroyed: threads of the program may be in a call of NVTX while it ends.
struct Recording {
  explicit Recording(const ProfilerOptions& options) : profiler(options) {}
  Profiler profiler;
  std::unique_ptr<nvtx::Recorder> recorder;
  WindowSink* sink = nullptr;  // the profiler's
  pid_t pid = 0;
};

Mutex g_mutex;  // held while a recording begins or ends
std::atomic<Recording*> g_recording{nullptr};
bool g_tried PITWALL_GUARDED_BY(g_mutex) = false;
Mutex g_notes_mutex;
std::string& notes() PITWALL_REQUIRES(g_notes_mutex) {
  static auto* const text = new std::string;
  return *text;
}

TimeNs monotonicNow() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<TimeNs>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

TimeNs toNs(double seconds) { return static_cast<TimeNs>(std::min(seconds, 9e9) * 1e9); }

std::unique_ptr<Recording> open() {
  const Environment environment = readEnvironment([](const char* name) { return std::getenv(name); });
  Window window;
  if (environment.last_s) window.last_ns = toNs(*environment.last_s);
  if (environment.until_s && toNs(*environment.until_s) <= monotonicNow()) return nullptr;
  const std::string path =
      freeTracePath(expandTracePath(environment.path_template, getpid(), environment.rank));
  auto trace = createTrace(path);
  if (!trace.has_value()) {
    printNote(fmt::format("this process is not recorded: {}", trace.error().message));
    return nullptr;
  }
  nvtx::recordOnly(environment.only);
  ProfilerOptions options;
  options.rank = environment.rank;
  auto recording = std::make_unique<Recording>(options);
  recording->pid = getpid();
  // Counted from the recording's start, which is now.
  if (environment.until_s) window.until_ns = toNs(*environment.until_s) - monotonicNow();
  auto sink = std::make_unique<WindowSink>(std::move(*trace), window);
  recording->sink = sink.get();
  recording->recorder =
      std::make_unique<nvtx::Recorder>(recording->profiler, nvtx::processNames(), nvtx::processSchemas());
  if (const Status status = recording->profiler.start(std::move(sink), {ring::filePath(path)});
      !status.has_value()) {
    printNote(fmt::format("this process is not recorded: {}", status.error().message));
    return nullptr;
  }
  recording->profiler.withSink([](TraceSink& s) { s.meta(meta::kProducer, "pitwall " PITWALL_VERSION); });
  return recording;
}

// --- fork --------------------------------------------------------------------------------------------------

Recording* ours() {
  Recording* const recording = g_recording.load(std::memory_order_acquire);
  return recording != nullptr && recording->pid == getpid() ? recording : nullptr;
}

// Clang does not check the next four: the locks are held across the fork.
void beforeFork() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  g_mutex.lock();
  g_notes_mutex.lock();
  nvtx::processNames().mutex().lock();
  nvtx::processSchemas().mutex().lock();
  if (Recording* const recording = ours()) recording->sink->hold();
}

void unlockAll() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  nvtx::processSchemas().mutex().unlock();
  nvtx::processNames().mutex().unlock();
  g_notes_mutex.unlock();
  g_mutex.unlock();
}

void afterForkInParent() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  if (Recording* const recording = ours()) recording->sink->release();
  unlockAll();
}

// The parent's recording is leaked here with its locks held: its threads do not exist in the child.
void afterForkInChild() PITWALL_NO_THREAD_SAFETY_ANALYSIS {
  nvtx::setActive(nullptr);
  g_recording.store(nullptr);
  g_tried = false;
  notes().clear();
  nvtx::setRevive([] { (void)begin(); });
  unlockAll();
}

}  // namespace

void printNote(std::string_view sentence) {
  (void)std::fprintf(stderr, "pitwall: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  const ScopedLock lock(g_notes_mutex);
  notes() += std::string(sentence) + "\n";
}

Profiler* begin() {
  const ScopedLock lock(g_mutex);
  if (g_tried) {
    Recording* const recording = g_recording.load(std::memory_order_acquire);
    return recording == nullptr ? nullptr : &recording->profiler;
  }
  g_tried = true;
  try {
    std::unique_ptr<Recording> recording = open();
    if (recording == nullptr) return nullptr;
    static const bool registered = [] {
      (void)pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
      (void)std::at_quick_exit([] { end(); });
      return true;
    }();
    (void)registered;
    Recording* const kept = recording.release();
    g_recording.store(kept, std::memory_order_release);
    nvtx::setActive(kept->recorder.get());
    nvtx::setThreadEndHook([] {
      if (nvtx::Recorder* const recorder = nvtx::active()) recorder->closeThread();
    });
    return &kept->profiler;
  } catch (const std::exception& error) {
    printNote(fmt::format("this process is not recorded: {}", error.what()));
    return nullptr;
  }
}

void end() noexcept {
  try {
    Recording* const recording = ours();
    if (recording == nullptr) return;
    // Without waiting: a thread ended by another thread's exit() may hold it.
    if (!g_mutex.tryLock()) return;
    const ScopedLock lock(g_mutex, std::adopt_lock);
    if (!recording->profiler.isRecording()) return;
    recording->recorder->closeThread();
    cupti::finish();
    std::istringstream sentences(cupti::takeNotes());
    for (std::string sentence; std::getline(sentences, sentence);) printNote(sentence);
    {
      const ScopedLock notes_lock(g_notes_mutex);
      const std::string& text = notes();
      if (!text.empty())
        recording->profiler.withSink([&text](TraceSink& s) { s.meta(meta::kRecorderNotes, text); });
    }
    if (const Status status = recording->profiler.stop(); !status.has_value())
      (void)std::fprintf(stderr, "pitwall: the trace is not complete: %s\n", status.error().message.c_str());
  } catch (const std::exception&) {
    // The ring file has the records that are missing in the trace.
  }
}

}  // namespace pitwall::inject
