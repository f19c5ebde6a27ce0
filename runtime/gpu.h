// What the runtime asks of GPUs: memory, streams, events and copies, without a type of CUDA. runtime/backend/cuda/ has
// the one of CUDA; tests have one whose devices are memory and threads of the host.
//
// Threads: every call from any thread, but use() chooses the device of the calling thread's later calls on streams.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "db/settings.h"
#include "db/units.h"

namespace pitwall {

class Backend;

// Handles of the driver: cudaStream_t, cudaEvent_t and cudaGraphExec_t.
using GpuStream = void*;
using GpuEvent = void*;
using GpuGraph = void*;

struct GpuMemoryInfo {
  Bytes free_bytes = 0, total_bytes = 0;
};

// How two GPUs reach each other's memory.
struct GpuLink {
  bool direct = false;  // not through the host
  int rank = 0;         // of speed, as the driver rates it: more is faster
};

// What a kernel could not compute, such as a label that is no class. In memory that host and device share; code 0 is none.
// The first problem of a run is kept.
struct GpuProblem {
  std::int32_t code = 0;
  float value = 0;
  std::int64_t index = 0;
};

// Errors of all calls: internal with the driver's message; io when the driver has no more memory.
class GpuDriver {
 public:
  virtual ~GpuDriver() = default;

  // Errors: unsupported, saying whether the driver or the device is missing, with the remedy.
  virtual Result<int> deviceCount() = 0;
  virtual Status use(int device) = 0;

  // nullptr when there is no memory.
  virtual void* allocate(int device, Bytes size) = 0;
  virtual void free(int device, void* data) = 0;
  // Memory of the host that the device reads and writes without a detour.
  virtual void* allocatePinned(int device, Bytes size) = 0;
  virtual void freePinned(void* data) = 0;
  virtual Result<GpuMemoryInfo> memoryInfo(int device) = 0;

  // On the device that the thread uses.
  virtual Result<GpuStream> createStream() = 0;
  virtual void destroyStream(GpuStream stream) = 0;
  virtual Result<GpuEvent> createEvent() = 0;
  virtual void destroyEvent(GpuEvent event) = 0;

  virtual Status record(GpuEvent event, GpuStream stream) = 0;
  // Whether everything before its last record() is done. An error of that work is returned by one of the calls after it.
  virtual Result<bool> isDone(GpuEvent event) = 0;
  // The stream's later work starts after the event.
  virtual Status wait(GpuStream stream, GpuEvent event) = 0;
  // Blocks the calling thread.
  virtual Status synchronize(GpuStream stream) = 0;

  // Between any two memories; returns before it is done, unless one of them is pageable memory of the host.
  virtual Status copy(void* to, const void* from, Bytes size, GpuStream stream) = 0;
  // `words` numbers of 4 bytes.
  virtual Status fill(void* to, std::uint32_t pattern, std::int64_t words, GpuStream stream) = 0;

  // What `put` puts on the stream, to be repeated by launch(): it does not run now. Errors: also those of `put`, and what cannot
  // be repeated.
  virtual Result<GpuGraph> capture(GpuStream stream, const std::function<Status()>& put) = 0;
  virtual Status launch(GpuGraph graph, GpuStream stream) = 0;
  // A launch under way still ends.
  virtual void destroyGraph(GpuGraph graph) = 0;

  // Lets `device` read and write the memory of `other`. False: copies go through the host.
  virtual bool enablePeerAccess(int device, int other) = 0;
  // Without an answer of the driver: not direct.
  virtual GpuLink link(int device, int other) = 0;
};

// A sum of arrays of several GPUs into one of them, or the copy of an array of one GPU to all of them. GPUs are named by their
// places in the list of a GpuCollectives.
struct GpuCollective {
  enum class Kind : std::uint8_t { sum, copy };
  Kind kind = Kind::sum;
  int root = 0;                    // of the sum; of the array that is copied
  std::int64_t floats = 0;         // of each array
  std::vector<const float*> from;  // in each GPU's memory; of a copy the root's alone is read
  std::vector<float*> to;          // of a sum the root's alone is written; on the root it may be its `from`
};

// Sums and copies over several GPUs of this process, by a library such as NCCL. Threads: one call at a time.
class GpuCollectives {
 public:
  virtual ~GpuCollectives() = default;
  // Puts all of them on the streams, of each GPU one. They start together. After an error some of the work may be on the streams.
  virtual Status put(std::span<const GpuCollective> collectives, std::span<const GpuStream> streams) = 0;
};

// The GPUs of a session: their driver, the backend that computes on them, and the library that sums between them.
class GpuPlatform {
 public:
  virtual ~GpuPlatform() = default;
  virtual GpuDriver& driver() = 0;
  virtual Result<std::unique_ptr<Backend>> openBackend(const Settings& settings) = 0;
  // Such as "NCCL 2.28.9". Errors: notFound or unsupported where there is none, with the remedy.
  virtual Result<std::string> collectivesVersion() = 0;
  // Over these GPUs, which differ; connects them, which takes a while. Errors: those of the library.
  virtual Result<std::unique_ptr<GpuCollectives>> openCollectives(std::span<const int> devices) = 0;
};

// That of this build. Errors: unsupported, saying whether this build, the driver or the device is missing.
Result<std::shared_ptr<GpuPlatform>> openGpuPlatform();

}  // namespace pitwall
