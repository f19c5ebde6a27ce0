// Synthetic traces in the formats of other tools, of any size; the same bytes every time.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::bench {

// Each writes at least `bytes` to `path` and returns an error message, empty on success.

// PyTorch's profiler: steps of operators with shapes, launches, kernels with their facts, arrows, memory.
std::string makeKineto(const std::string& path, std::int64_t bytes);
// MXNet's profiler: operators written twice, hashed ids, calls of its C API, counters of storage.
std::string makeMxNet(const std::string& path, std::int64_t bytes);
// A log of a training program mixed with oneDNN's verbose lines.
std::string makeOneDnn(const std::string& path, std::int64_t bytes);
// A database of Nsight Systems with `rows` calls and as many kernels.
std::string makeNsight(const std::string& path, std::int64_t rows);

}  // namespace pitwall::bench
