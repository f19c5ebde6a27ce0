// How long work on a GPU takes.
#pragma once

#include <functional>
#include <vector>

#include "db/result.h"
#include "db/units.h"
#include "runtime/tensor.h"

namespace pitwall::cuda {

// Memory of the thread's GPU for a measurement; nothing else of the process waits for it.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  // Errors: io when there is no memory.
  Result<void*> take(Bytes bytes);
  // So many numbers between -1 and 1, of a real type.
  Result<void*> noise(DType type, std::int64_t count);

 private:
  std::vector<void*> all_;
};

// Seconds of the fastest of a few runs, after one that is not measured. `put` puts the work on a stream. Errors: those of `put`,
// and internal for what fails on the GPU.
Result<double> secondsOnDevice(const std::function<Status(void* stream)>& put);

}  // namespace pitwall::cuda
