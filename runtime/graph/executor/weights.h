// What an executor computes from weights once: weights with a BatchNorm folded in, and weights in a kernel's layout.
#pragma once

#include <vector>

#include "runtime/array/array.h"
#include "runtime/graph/executor/schedule.h"

namespace pitwall::graph {

class Weights {
 public:
  // The arrays by tensor; those that are not weights are empty. All outlive it. Unless it follows dense layers, a change of the weights of
  // those that are quantized makes nothing stale.
  Weights(Session& session, Device device, const Program& program, const Schedule& schedule,
          const std::vector<NDArray>& arrays, bool follows_dense);

  // Computes all of it from the arrays' present contents. Waits for them. Errors: those of the arrays; io without memory.
  Status compute();

  // Whether an array has been written since. Waits for writes in progress. Errors: those of the arrays.
  Result<bool> areStale();

  // nullptr when it is not computed here.
  const void* dataOf(int tensor) const { return blocks_[position(tensor)].data(); }
  Bytes bytes() const;

 private:
  Status fold(const Folding& folding);
  Status quantize(const QuantizedWeight& weight);
  Status scaleNorm(const QuantizedNorm& norm);
  Status reorder(const Constant& constant);
  Result<std::vector<float>> valuesOf(int tensor) const;
  template <class T>
  Status store(int tensor, const std::vector<T>& values);
  Result<void*> placeOf(int tensor, Bytes bytes);                     // its block, of so many bytes
  Status storeRounded(int tensor, const std::vector<float>& values);  // to the tensor's type

  Session& session_;
  const Device device_;
  const Program& program_;
  const Schedule& schedule_;
  const std::vector<NDArray>& arrays_;
  std::vector<int> sources_;  // tensors whose arrays are read
  std::vector<std::uint64_t> versions_;
  std::vector<Block> blocks_;  // by tensor
  std::vector<bool> is_read_;  // by tensor: a step reads it
};

}  // namespace pitwall::graph
