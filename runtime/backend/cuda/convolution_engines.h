// The engines of cuDNN for a convolution, in the order in which its heuristics prefer them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend/cuda/cudnn_api.h"
#include "runtime/tensor.h"

namespace pitwall::cuda {

// Of 4 axes: N, C, H, W, or of a weight O, I, KH, KW.
using Extents = std::array<std::int64_t, 4>;

struct ConvolutionProblem {
  enum class Kind : std::uint8_t { forward, data, weights };
  Kind kind = Kind::forward;
  DType type = DType::float32;  // of all arrays; sums are float32
  bool channels_last = true;
  Extents x{}, w{}, y{};
  std::array<std::int64_t, 2> stride{1, 1}, pad{0, 0}, dilate{1, 1};
  // Fused into a forward convolution: y = relu(convolution + addend + bias).
  bool bias = false, adds = false, relu = false;

  bool isFused() const { return bias || adds || relu; }
  ConvolutionProblem unfused() const;
  // Extents and all that an engine's time depends on.
  std::string describe() const;
};

// The arrays of a convolution, as cuDNN knows them in a variant pack.
enum ConvolutionArray : std::int64_t { kX = 'x', kW = 'w', kY = 'y', kBias = 'b', kAddend = 'z' };

struct Engine {
  Descriptor configuration;
  std::uint32_t notes = 0;  // bit i: CUDNN_NUMERICAL_NOTE i holds
  bool is_fused = false;    // it computes all that the problem asks for
  std::string name;         // "engine 67 tensor core"

  // Of build().
  Descriptor plan;
  std::int64_t workspace_bytes = 0;
  // Compiles it, which may take a second. Errors: unsupported, where it does not fit the problem after all.
  Status build(const CudnnApi& api, const Descriptor& device);
};

struct EngineSearch {
  std::uint32_t forbidden_notes = 0;  // bits as Engine::notes
  cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  std::size_t most = 12;  // engines
};

// Not built yet: at most search.most, then one that is slow and works always. Empty where cuDNN has none. Errors: those of cuDNN
// about the problem's description.
Result<std::vector<Engine>> enginesFor(const CudnnApi& api, const Descriptor& device,
                                       const ConvolutionProblem& problem, const EngineSearch& search);

// "tensor core, nondeterministic"; "" for none.
std::string namesOfNotes(std::uint32_t notes);

}  // namespace pitwall::cuda
