#include "runtime/backend/onednn/parts.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/onednn/operators.h"
#include "runtime/backend/support/function_kernel.h"

namespace pitwall::onednn {
namespace {

// Elements: fewer are copied in less time than other threads need to start.
constexpr std::int64_t kParallelFrom = 1 << 14;

struct Arrangement {
  std::vector<Desc> parts;
  Desc whole;
};

// All in the arrangement of `like`, or row-major.
Arrangement arrange(const Parts& p, const Desc& like) {
  Arrangement a{{}, arrangedAs(like, p.whole)};
  bool fits = true;
  for (std::size_t i = 0; i < p.parts.size(); ++i) {
    a.parts.push_back(arrangedAs(like, p.parts[i]));
    fits = fits && (i + 1 == p.parts.size() || a.parts[i].data.padded_dims[p.axis] == p.parts[i][p.axis]);
  }
  if (fits) return a;
  a = {{}, rowMajor(p.whole)};
  for (const Dims& dims : p.parts) a.parts.push_back(rowMajor(dims));
  return a;
}

// Arrays of one arrangement beside each other: `repeats` times a run of each part after the other.
struct Runs {
  std::int64_t repeats = 1;
  std::vector<std::int64_t> lengths;  // of each part's run, in elements
};

Runs runsOf(const std::vector<Desc>& parts, const Desc& whole, std::size_t axis) {
  const dnnl_memory_desc_t& all = whole.data;
  const dnnl_blocking_desc_t& blocking = all.format_desc.blocking;
  Runs runs;
  for (int i = 0; i < all.ndims; ++i) {
    // Axes that vary more slowly. One of a single element has a stride without meaning, but does not count.
    if (static_cast<std::size_t>(i) == axis || blocking.strides[i] <= blocking.strides[axis]) continue;
    std::int64_t extent = all.padded_dims[i];
    for (int k = 0; k < blocking.inner_nblks; ++k)
      if (blocking.inner_idxs[k] == i) extent /= blocking.inner_blks[k];
    runs.repeats *= std::max<std::int64_t>(1, extent);
  }
  for (const Desc& part : parts)
    runs.lengths.push_back(static_cast<std::int64_t>(part.get_size() / sizeof(float)) / runs.repeats);
  return runs;
}

// Copies elements begin to end of the output.
void copyRange(const Runs& runs, std::int64_t all, const KernelArgs& args, std::int64_t begin,
               std::int64_t end) {
  std::int64_t repeat = begin / all, within = begin % all;
  while (begin < end) {
    std::int64_t start = 0;  // of the run in this repeat
    for (std::size_t i = 0; i < runs.lengths.size() && begin < end; start += runs.lengths[i], ++i) {
      const std::int64_t length = runs.lengths[i], skip = within - start;
      if (skip >= length) continue;
      const std::int64_t count = std::min(length - skip, end - begin);
      std::memcpy(output(args, 0) + begin, input(args, i) + repeat * length + skip,
                  static_cast<std::size_t>(count) * sizeof(float));
      begin += count;
      within += count;
    }
    ++repeat;
    within = 0;
  }
}

}  // namespace

// oneDNN's own concat copies blocked parts at a fraction of the memory's speed.
KernelPtr joinParts(const Request& r, const Parts& p) {
  const std::size_t count = p.parts.size();
  std::size_t leader = 0;  // the first that is not row-major
  while (leader + 1 < count && r.inputs[leader].layout == nullptr) ++leader;
  const auto [parts, whole] = arrange(p, descOf(r.inputs[leader], p.parts[leader]));
  Signature signature = r.signature;
  for (std::size_t i = 0; i < count; ++i) signature.inputs[i] = specOf(signature.inputs[i].shape, parts[i]);
  signature.outputs[0] = specOf(signature.outputs[0].shape, whole);
  const Runs runs = runsOf(parts, whole, p.axis);
  const std::int64_t all = std::reduce(runs.lengths.begin(), runs.lengths.end());
  return std::make_shared<FunctionKernel>(
      std::move(signature), "copy", [runs, all](const KernelArgs& args) -> Status {
        cpu_kernels::parallelFor(
            runs.repeats * all, cpu_kernels::Split(kParallelFrom, args),
            [&](std::int64_t begin, std::int64_t end) { copyRange(runs, all, args, begin, end); });
        return {};
      });
}

// Copies each part.
KernelPtr separateParts(const Request& r, const Parts& p, std::size_t from) {
  const auto [parts, whole] = arrange(p, descOf(r.inputs[from], p.whole));
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, "reorder");
  for (std::size_t i = 0; i < r.inputs.size(); ++i) kernel->keepInput(i, r.inputs[i]);
  Dims begin(p.whole.size(), 0);
  for (std::size_t i = 0; i < p.parts.size(); ++i) {
    kernel->setOutput(i, parts[i]);
    addReorder(*kernel, r.engine, whole.submemory_desc(p.parts[i], begin), inputAt(from), parts[i],
               outputAt(i));
    begin[p.axis] += p.parts[i][p.axis];
  }
  kernel->setInput(from, whole);
  return kernel;
}

}  // namespace pitwall::onednn
