// Runs one operator on one backend with arrays in any layout; used by all backend tests.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/operators.h"

namespace pitwall::test {

// An array with its memory. Copies share it.
struct Array {
  TensorSpec spec;
  std::shared_ptr<std::byte> bytes;

  float* floats() const { return reinterpret_cast<float*>(bytes.get()); }
};

// Uninitialised values are NaN, so that elements that a kernel does not write are detected.
Array makeArray(const TensorSpec& spec);
Array makeArray(const Shape& shape, const std::vector<float>& values);
Array clone(const Array& array);
// Of one run.
std::shared_ptr<std::byte> makeWorkspace(const Kernel& kernel);

// Uniform in [-1, 1].
Array randomArray(const Shape& shape, std::mt19937& random);

// A backend with the default settings, and MXNET_MKLDNN_CACHE_NUM as given.
std::unique_ptr<Backend> open(const char* name, int cached_kernels = -1);

// In another layout; null = row-major. Fails the test when the backend cannot.
Array reordered(Backend& backend, const Array& array, const LayoutPtr& layout);
std::vector<float> rowMajorValues(Backend& backend, const Array& array);

// A request to a backend.
struct Call {
  OperatorKindDesc desc = {};
  Pass pass = Pass::forward;
  std::vector<Array> inputs = {};
  const TensorSpec* like = nullptr;
  std::uint64_t seed = 0;
  float rate = 0, rescale = 1;
  std::vector<Array> outputs =
      {};  // where contents are read and written; empty or without memory = created here

  std::string toString() const;  // operator, pass, shapes
};

struct Answer {
  KernelPtr kernel;  // nullptr when the test has failed
  std::vector<Array> outputs;
};

// Prepares, reorders inputs as the kernel requires, runs. A failure fails the test, naming the call.
Answer ask(Backend& backend, const Call& call);

}  // namespace pitwall::test
