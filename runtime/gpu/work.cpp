#include "runtime/gpu/work.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "db/try.h"

namespace pitwall {
namespace {

// The device that a thread's calls of a driver go to, so that use() is called where it changes.
struct InUse {
  int device = -1;
  GpuThread* thread = nullptr;
  std::uint64_t serial = 0;
};
thread_local InUse in_use;

std::uint64_t nextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Failure onDevice(Device device, const Error& error) {
  return fail(error.code, fmt::format("device {}: {}", toString(device), error.message));
}

}  // namespace

GpuWork::GpuWork(GpuDriver& driver, StorageOf storage_of)
    : driver_(driver),
      storage_of_(std::move(storage_of)),
      serial_(nextSerial()),
      completer_(std::make_unique<GpuCompleter>(driver)) {}

GpuWork::~GpuWork() {
  completer_.reset();
  const ScopedLock lock(mutex_);
  for (const auto& [key, thread] : threads_) {
    if (thread == nullptr) continue;  // its stream could not be created
    (void)driver_.use(key.second);
    thread->workspace = {};
    thread->kept.clear();
    driver_.destroyStream(thread->stream);
  }
  for (const auto& [device, events] : events_)
    for (const GpuEvent event : events) driver_.destroyEvent(event);
}

Result<GpuThread*> GpuWork::here(Device device) {
  if (in_use.serial == serial_ && in_use.device == device.index) return in_use.thread;
  const Status used = driver_.use(device.index);
  if (!used.has_value()) return onDevice(device, used.error());
  GpuThread* const thread = PITWALL_TRY(open(device));
  in_use = {device.index, thread, serial_};
  return thread;
}

Result<GpuThread*> GpuWork::open(Device device) {
  const std::pair key{std::this_thread::get_id(), device.index};
  const ScopedLock lock(mutex_);
  auto& thread = threads_[key];
  if (thread != nullptr) return thread.get();
  auto made = std::make_unique<GpuThread>();
  made->device = device.index;
  const auto stream = driver_.createStream();
  if (!stream.has_value()) return onDevice(device, stream.error());
  made->stream = *stream;
  thread = std::move(made);
  return thread.get();
}

// The stream's earlier work may use the block that is too small.
Result<void*> GpuWork::workspace(GpuThread& thread, Bytes bytes) {
  if (bytes == 0) return nullptr;
  if (thread.workspace.size() < bytes) {
    if (thread.workspace.data() != nullptr) thread.kept.push_back(std::move(thread.workspace));
    thread.workspace = {};
    Storage* const storage = PITWALL_TRY(storage_of_(gpu(thread.device)));
    thread.workspace = PITWALL_TRY(storage->allocate(bytes, MemoryTag::workspace));
  }
  return thread.workspace.data();
}

Result<GpuProblem*> GpuWork::problem(GpuThread& thread, std::function<Status(const GpuProblem&)> explain) {
  constexpr std::size_t kPerBlock = 256;
  const ScopedLock lock(mutex_);
  if (problems_.empty()) {
    Storage* const storage = PITWALL_TRY(storage_of_(pinned(thread.device)));
    constexpr auto kBytes = static_cast<Bytes>(kPerBlock * sizeof(GpuProblem));
    problem_memory_.push_back(PITWALL_TRY(storage->allocate(kBytes, MemoryTag::other)));
    auto* const first = static_cast<GpuProblem*>(problem_memory_.back().data());
    for (std::size_t i = 0; i < kPerBlock; ++i) problems_.push_back(first + i);
  }
  GpuProblem* const problem = problems_.back();
  problems_.pop_back();
  *problem = {};
  thread.checks.push_back({problem, std::move(explain)});
  return problem;
}

Result<GpuEvent> GpuWork::takeEvent(int device) {
  {
    const ScopedLock lock(mutex_);
    auto& free = events_[device];
    if (!free.empty()) {
      const GpuEvent event = free.back();
      free.pop_back();
      return event;
    }
  }
  return driver_.createEvent();
}

// `thread`: nullptr of a stream that is no thread's.
void GpuWork::giveEvent(int device, GpuEvent event, GpuThread* thread) {
  const ScopedLock lock(mutex_);
  events_[device].push_back(event);
  if (thread != nullptr) --thread->open;
  --open_;
  last_end_ = std::chrono::steady_clock::now();
  less_open_.notifyAll();
}

// What waits for the end of work.
struct GpuWork::After {
  Completion completion;
  std::vector<Block> kept;
  std::vector<GpuThread::Check> checks;
};

void GpuWork::complete(After& after, Status status) {
  for (const GpuThread::Check& check : after.checks)
    if (status.has_value() && check.problem->code != 0) status = check.explain(*check.problem);
  {
    const ScopedLock lock(mutex_);
    for (const GpuThread::Check& check : after.checks) problems_.push_back(check.problem);
  }
  after.kept.clear();
  after.completion(std::move(status));
}

// Temporary arrays of operators that are far ahead of the device would fill its memory.
void GpuWork::waitForRoom(GpuThread& thread) {
  constexpr int kMostOpen = 64;
  const ScopedLock lock(mutex_);
  while (thread.open >= kMostOpen) less_open_.wait(mutex_);
}

// Blocks are freed by operators that run after the end of the work, on other threads.
bool GpuWork::waitForFrees() {
  constexpr std::chrono::milliseconds kAfterEnd{20}, kPause{1};
  {
    const ScopedLock lock(mutex_);
    if (open_ > 0) return less_open_.wait(mutex_), true;
    if (std::chrono::steady_clock::now() - last_end_ > kAfterEnd) return false;
  }
  std::this_thread::sleep_for(kPause);
  return true;
}

Result<GpuStream> GpuWork::enter(Device device, std::span<const StreamPlace> after) {
  GpuThread& thread = *PITWALL_TRY(here(device));
  waitForRoom(thread);
  for (const StreamPlace& place : after) {
    if (place.event == nullptr || place.stream == thread.stream) continue;
    const Status waits = driver_.wait(thread.stream, place.event);
    if (!waits.has_value()) return onDevice(device, waits.error());
  }
  return thread.stream;
}

// The thread's own device is chosen again by its next here().
Status GpuWork::useOnce(Device device) {
  in_use = {};
  const Status used = driver_.use(device.index);
  if (used.has_value()) return {};
  return onDevice(device, used.error());
}

Result<GpuStream> GpuWork::openStream(Device device) {
  PITWALL_TRY(useOnce(device));
  const Result<GpuStream> stream = driver_.createStream();
  if (!stream.has_value()) return onDevice(device, stream.error());
  return *stream;
}

// Calls `done` after all that is on the stream; the event there. `thread`: nullptr of a stream that is no thread's. The calling thread
// uses the device. After an error `done` is not called.
template <class Done>
Result<GpuEvent> GpuWork::markEnd(Device device, GpuStream stream, GpuThread* thread, Done done) {
  const Result<GpuEvent> event = takeEvent(device.index);
  const Status recorded = event.has_value() ? driver_.record(*event, stream) : Status(fail(event.error()));
  if (!recorded.has_value()) {
    // Without an event the work may still run: what it uses is given back after it.
    (void)driver_.synchronize(stream);
    return onDevice(device, recorded.error());
  }
  {
    const ScopedLock lock(mutex_);
    if (thread != nullptr) ++thread->open;
    ++open_;
  }
  completer_->add(stream, *event,
                  [this, device, event = *event, thread, done = std::move(done)](Status status) {
                    giveEvent(device.index, event, thread);
                    done(status.has_value() ? std::move(status) : onDevice(device, status.error()));
                  });
  return *event;
}

Status GpuWork::afterAll(Device device, GpuStream stream, GpuCompleter::Done done) {
  PITWALL_TRY(useOnce(device));
  PITWALL_TRY(markEnd(device, stream, nullptr, std::move(done)));
  return {};
}

GpuEvent GpuWork::finish(Device device, Completion completion) {
  auto after = std::make_shared<After>();
  after->completion = std::move(completion);
  const Result<GpuThread*> thread = here(device);
  if (!thread.has_value()) return complete(*after, fail(thread.error())), nullptr;
  GpuThread& t = **thread;
  after->kept = std::exchange(t.kept, {});
  after->checks = std::exchange(t.checks, {});
  const Result<GpuEvent> event =
      markEnd(device, t.stream, &t, [this, after](Status status) { complete(*after, std::move(status)); });
  if (!event.has_value()) return complete(*after, fail(event.error())), nullptr;
  return *event;
}

}  // namespace pitwall
