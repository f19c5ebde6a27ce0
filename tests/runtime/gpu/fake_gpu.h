// GPUs that are memory and threads of the host: what puts work on GPUs is tested with them where there is none. They say nothing
// about a real device's driver or its speed.
//
// A stream is a thread that runs its work in order; events are real. The backend runs the device's kernels, compiled for the
// host as loops, on the streams. Work may be delayed, so that what relies on luck fails.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/gpu.h"

namespace pitwall::test {

struct FakeGpuOptions {
  int devices = 1;
  Bytes memory = Bytes{1} << 30;  // of each device
  int delay_us = 0;               // before each piece of work
};

class FakeGpuDriver final : public GpuDriver {
 public:
  explicit FakeGpuDriver(FakeGpuOptions options);
  // Fails the test when memory, streams or events are left.
  ~FakeGpuDriver() override;

  Result<int> deviceCount() override { return options_.devices; }
  Status use(int device) override;
  void* allocate(int device, Bytes size) override;
  void free(int device, void* data) override;
  void* allocatePinned(int device, Bytes size) override;
  void freePinned(void* data) override;
  Result<GpuMemoryInfo> memoryInfo(int device) override;
  Result<GpuStream> createStream() override;
  void destroyStream(GpuStream stream) override;
  Result<GpuEvent> createEvent() override;
  void destroyEvent(GpuEvent event) override;
  Status record(GpuEvent event, GpuStream stream) override;
  Result<bool> isDone(GpuEvent event) override;
  Status wait(GpuStream stream, GpuEvent event) override;
  Status synchronize(GpuStream stream) override;
  Status copy(void* to, const void* from, Bytes size, GpuStream stream) override;
  Status fill(void* to, std::uint32_t pattern, std::int64_t words, GpuStream stream) override;
  Result<GpuGraph> capture(GpuStream stream, const std::function<Status()>& put) override;
  Status launch(GpuGraph graph, GpuStream stream) override;
  void destroyGraph(GpuGraph graph) override;
  bool enablePeerAccess(int device, int other) override;
  GpuLink link(int device, int other) override { return links_ ? links_(device, other) : GpuLink{true, 0}; }

  // Of the thread of a stream, before each piece of work.
  void waitUntilResumed();

  // Puts work on a stream.
  static void enqueue(GpuStream stream, std::function<void()> work);

  // All later isDone() report this error, as after a fault of the device.
  void breakWith(const std::string& message);
  int allocations() const { return allocations_.load(); }
  int copies() const { return copies_.load(); }
  int looks() const { return looks_.load(); }  // calls of isDone()
  int captures() const { return captures_.load(); }
  // Pairs of devices of which the first may use the memory of the second.
  std::set<std::pair<int, int>> peers() const;
  int launches() const { return launches_.load(); }  // of graphs
  // Streams begin no more work until they may.
  void setPaused(bool paused);
  int works() const { return works_.load(); }  // put on streams
  // What link() answers from now on.
  void setLinks(std::function<GpuLink(int, int)> links) { links_ = std::move(links); }
  // All later captures fail.
  void refuseCaptures() { refuses_captures_ = true; }

 private:
  const FakeGpuOptions options_;
  mutable std::mutex mutex_;
  std::vector<Bytes> used_;
  std::vector<std::pair<void*, Bytes>> blocks_;
  std::set<void*> pinned_;
  bool paused_ = false;
  std::condition_variable resumed_;
  std::set<std::pair<int, int>> peers_;
  std::string broken_;
  std::function<GpuLink(int, int)> links_;
  std::atomic<int> allocations_{0}, copies_{0}, looks_{0}, streams_{0}, events_{0}, graphs_{0}, captures_{0},
      launches_{0}, works_{0};
  std::atomic<bool> refuses_captures_{false};
};

// The kernels of runtime/backend/gpu_kernels/ as loops; without a stream they run at once.
std::unique_ptr<Backend> makeHostGpuBackend();

// Counts of what FakeGpuPlatform's collectives have done.
struct CollectivesDone {
  std::atomic<int> sums{0}, copies{0};
  std::atomic<int> puts{0};  // groups that start together
  std::atomic<int> most_together{0};
  std::atomic<int> communicators{0};  // opened
};

class FakeGpuPlatform final : public GpuPlatform {
 public:
  explicit FakeGpuPlatform(FakeGpuOptions options = {}) : fake(options) {}
  GpuDriver& driver() override { return fake; }
  Result<std::unique_ptr<Backend>> openBackend(const Settings&) override { return makeHostGpuBackend(); }
  Result<std::string> collectivesVersion() override;
  // A stream waits in each collective for those of the other GPUs, as NCCL's kernels do.
  Result<std::unique_ptr<GpuCollectives>> openCollectives(std::span<const int> devices) override;

  FakeGpuDriver fake;
  CollectivesDone collectives;
  std::function<void()> before_put = {};  // called by each put of a group
  // Of the calls after it; empty: none.
  std::string error_of_library;  // there is none
  std::string error_of_put;
};

}  // namespace pitwall::test
