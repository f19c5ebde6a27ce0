#include "tests/runtime/gpu/fake_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>

namespace pitwall::test {
namespace {

class Event {
 public:
  // A record is done when its number has been reached.
  std::uint64_t record() { return ++recorded_; }
  void reach(std::uint64_t number) {
    // With the lock: who sees it may destroy the event.
    const std::lock_guard lock(mutex_);
    reached_ = std::max(reached_, number);
    changed_.notify_all();
  }
  bool isDone() const {
    const std::lock_guard lock(mutex_);
    return reached_ >= recorded_.load();
  }
  std::uint64_t last() const { return recorded_.load(); }
  void waitFor(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= number; });
  }

 private:
  std::atomic<std::uint64_t> recorded_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t reached_ = 0;
};

class Stream {
 public:
  Stream(FakeGpuDriver& driver, std::atomic<int>& works, int delay_us)
      : driver_(driver), works_(works), delay_us_(delay_us), thread_([this] { run(); }) {}
  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      (captured_ != nullptr ? *captured_ : work_).push_back(std::move(work));
      if (captured_ == nullptr) ++works_;
    }
    changed_.notify_all();
  }
  // From now on work goes there; nullptr: it is done again.
  void captureInto(std::deque<std::function<void()>>* list) {
    const std::lock_guard lock(mutex_);
    captured_ = list;
  }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty() && !busy_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !work_.empty() || stopping_; });
      if (work_.empty()) return;
      const auto work = std::move(work_.front());
      work_.pop_front();
      busy_ = true;
      lock.unlock();
      driver_.waitUntilResumed();
      if (delay_us_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us_));
      work();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }
  FakeGpuDriver& driver_;
  std::atomic<int>& works_;
  const int delay_us_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::deque<std::function<void()>>* captured_ = nullptr;
  bool stopping_ = false, busy_ = false;
  std::thread thread_;
};

Stream& streamOf(GpuStream stream) { return *static_cast<Stream*>(stream); }
Event& eventOf(GpuEvent event) { return *static_cast<Event*>(event); }
thread_local int used_device = 0;

void* aligned(Bytes size) {
  return std::aligned_alloc(256, static_cast<std::size_t>((size + 255) / 256 * 256));
}

}  // namespace

FakeGpuDriver::FakeGpuDriver(FakeGpuOptions options)
    : options_(options), used_(static_cast<std::size_t>(options.devices)) {}

FakeGpuDriver::~FakeGpuDriver() {
  EXPECT_TRUE(blocks_.empty()) << "memory of a device is left";
  EXPECT_TRUE(pinned_.empty()) << "pinned memory is left";
  EXPECT_EQ(streams_.load(), 0) << "streams are left";
  EXPECT_EQ(events_.load(), 0) << "events are left";
  EXPECT_EQ(graphs_.load(), 0) << "graphs are left";
}

Status FakeGpuDriver::use(int device) {
  if (device >= options_.devices) return fail(ErrorCode::internal, "no such device");
  used_device = device;
  return {};
}

void* FakeGpuDriver::allocate(int device, Bytes size) {
  const std::lock_guard lock(mutex_);
  Bytes& used = used_[static_cast<std::size_t>(device)];
  if (used + size > options_.memory) return nullptr;
  ++allocations_;
  used += size;
  void* const data = aligned(size);
  std::memset(data, 0xFF, static_cast<std::size_t>(size));  // NaN
  blocks_.emplace_back(data, size);
  return data;
}

void FakeGpuDriver::free(int device, void* data) {
  const std::lock_guard lock(mutex_);
  const auto block =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& b) { return b.first == data; });
  ASSERT_NE(block, blocks_.end()) << "freed twice, or never allocated";
  used_[static_cast<std::size_t>(device)] -= block->second;
  std::memset(data, 0xFF, static_cast<std::size_t>(block->second));
  blocks_.erase(block);
  std::free(data);
}

void* FakeGpuDriver::allocatePinned(int, Bytes size) {
  const std::lock_guard lock(mutex_);
  return *pinned_.insert(aligned(size)).first;
}

void FakeGpuDriver::freePinned(void* data) {
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(pinned_.erase(data), 1U);
  std::free(data);
}

Result<GpuMemoryInfo> FakeGpuDriver::memoryInfo(int device) {
  const std::lock_guard lock(mutex_);
  return GpuMemoryInfo{options_.memory - used_[static_cast<std::size_t>(device)], options_.memory};
}

Result<GpuStream> FakeGpuDriver::createStream() {
  ++streams_;
  return GpuStream(new Stream(*this, works_, options_.delay_us));
}
void FakeGpuDriver::destroyStream(GpuStream stream) {
  --streams_;
  delete static_cast<Stream*>(stream);
}
Result<GpuEvent> FakeGpuDriver::createEvent() {
  ++events_;
  return GpuEvent(new Event);
}
void FakeGpuDriver::destroyEvent(GpuEvent event) {
  --events_;
  delete static_cast<Event*>(event);
}

Status FakeGpuDriver::record(GpuEvent event, GpuStream stream) {
  const std::uint64_t number = eventOf(event).record();
  streamOf(stream).add([event, number] { eventOf(event).reach(number); });
  return {};
}

Result<bool> FakeGpuDriver::isDone(GpuEvent event) {
  ++looks_;
  {
    const std::lock_guard lock(mutex_);
    if (!broken_.empty()) return fail(ErrorCode::internal, broken_);
  }
  return eventOf(event).isDone();
}

Status FakeGpuDriver::wait(GpuStream stream, GpuEvent event) {
  streamOf(stream).add([event, number = eventOf(event).last()] { eventOf(event).waitFor(number); });
  return {};
}

Status FakeGpuDriver::synchronize(GpuStream stream) {
  streamOf(stream).drain();
  return {};
}

Status FakeGpuDriver::copy(void* to, const void* from, Bytes size, GpuStream stream) {
  ++copies_;
  streamOf(stream).add([=] { std::memcpy(to, from, static_cast<std::size_t>(size)); });
  return {};
}

Status FakeGpuDriver::fill(void* to, std::uint32_t pattern, std::int64_t words, GpuStream stream) {
  streamOf(stream).add([=] { std::fill_n(static_cast<std::uint32_t*>(to), words, pattern); });
  return {};
}

namespace {
using Work = std::deque<std::function<void()>>;
}

Result<GpuGraph> FakeGpuDriver::capture(GpuStream stream, const std::function<Status()>& put) {
  auto work = std::make_unique<Work>();
  streamOf(stream).captureInto(work.get());
  Status done = refuses_captures_ ? fail(ErrorCode::internal, "no capture") : put();
  streamOf(stream).captureInto(nullptr);
  if (!done.has_value()) return fail(done.error());
  ++graphs_;
  ++captures_;
  return GpuGraph(work.release());
}

Status FakeGpuDriver::launch(GpuGraph graph, GpuStream stream) {
  ++launches_;
  for (const auto& work : *static_cast<Work*>(graph)) streamOf(stream).add(work);
  return {};
}

void FakeGpuDriver::destroyGraph(GpuGraph graph) {
  --graphs_;
  delete static_cast<Work*>(graph);
}

bool FakeGpuDriver::enablePeerAccess(int device, int other) {
  if (device >= options_.devices || other >= options_.devices) return false;
  const std::lock_guard lock(mutex_);
  peers_.emplace(device, other);
  return true;
}

std::set<std::pair<int, int>> FakeGpuDriver::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

void FakeGpuDriver::setPaused(bool paused) {
  const std::lock_guard lock(mutex_);
  paused_ = paused;
  resumed_.notify_all();
}

void FakeGpuDriver::waitUntilResumed() {
  std::unique_lock lock(mutex_);
  resumed_.wait(lock, [this] { return !paused_; });
}

void FakeGpuDriver::enqueue(GpuStream stream, std::function<void()> work) {
  streamOf(stream).add(std::move(work));
}

void FakeGpuDriver::breakWith(const std::string& message) {
  const std::lock_guard lock(mutex_);
  broken_ = message;
}

namespace {

// Where the streams of a collective meet: the last to arrive does it, the others wait.
class Meeting {
 public:
  explicit Meeting(std::size_t streams) : missing_(streams) {}
  void arrive(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    if (--missing_ == 0) {
      work();
      changed_.notify_all();
    } else {
      changed_.wait(lock, [this] { return missing_ == 0; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t missing_;
};

void compute(const GpuCollective& collective) {
  const auto root = static_cast<std::size_t>(collective.root);
  const std::int64_t floats = collective.floats;
  if (collective.kind == GpuCollective::Kind::copy) {
    for (float* const to : collective.to)
      if (to != collective.from[root]) std::copy_n(collective.from[root], floats, to);
    return;
  }
  for (std::int64_t i = 0; i < floats; ++i) {
    float sum = 0;
    for (const float* const from : collective.from) sum += from[i];
    collective.to[root][i] = sum;
  }
}

class FakeCollectives final : public GpuCollectives {
 public:
  FakeCollectives(FakeGpuPlatform& platform, std::size_t devices) : platform_(platform), devices_(devices) {}
  Status put(std::span<const GpuCollective> collectives, std::span<const GpuStream> streams) override {
    if (!platform_.error_of_put.empty()) return fail(ErrorCode::internal, platform_.error_of_put);
    ++platform_.collectives.puts;
    if (platform_.before_put) platform_.before_put();
    const int together = static_cast<int>(collectives.size());
    platform_.collectives.most_together = std::max(platform_.collectives.most_together.load(), together);
    EXPECT_EQ(streams.size(), devices_);
    for (const GpuCollective& collective : collectives) {
      ++(collective.kind == GpuCollective::Kind::sum ? platform_.collectives.sums
                                                     : platform_.collectives.copies);
      const auto meeting = std::make_shared<Meeting>(streams.size());
      for (const GpuStream stream : streams)
        FakeGpuDriver::enqueue(stream,
                               [meeting, collective] { meeting->arrive([&] { compute(collective); }); });
    }
    return {};
  }

 private:
  FakeGpuPlatform& platform_;
  const std::size_t devices_;
};

}  // namespace

Result<std::string> FakeGpuPlatform::collectivesVersion() {
  if (!error_of_library.empty()) return fail(ErrorCode::notFound, error_of_library);
  return std::string("NCCL of a test");
}

Result<std::unique_ptr<GpuCollectives>> FakeGpuPlatform::openCollectives(std::span<const int> devices) {
  ++collectives.communicators;
  return std::unique_ptr<GpuCollectives>(std::make_unique<FakeCollectives>(*this, devices.size()));
}

}  // namespace pitwall::test
