#include <utility>
#include <vector>

#include "db/try.h"
#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

// The gradient of the convolution's data is in the workspace.
static RunFunction makeGradients(const NormalizedConvolutionDesc& desc, Signature& s) {
  Signature of_data{{s.inputs[0], s.inputs[1]}, {s.inputs[2]}};
  const Shape& data = s.inputs[2].shape;
  s.workspace_bytes = s.inputs[2].sizeBytes();
  return [convolution = make(desc.convolution, Pass::backwardData, of_data), batch = data[0],
          channels = data[1], pixels = data[2] * data[3]](const KernelArgs& args) -> Status {
    void* const ddata[] = {args.context.workspace};
    PITWALL_TRY(convolution({.inputs = args.inputs.first(2), .outputs = ddata, .context = args.context}));
    const float* const from = static_cast<const float*>(args.context.workspace);
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::int64_t n = 0; n < batch; ++n)
        for (std::int64_t i = 0; i < pixels; ++i)
          sum += static_cast<double>(from[(n * channels + c) * pixels + i]);
      output(args, 0)[c] = 0;
      output(args, 1)[c] = static_cast<float>(sum);
    }
    return {};
  };
}

// One after the other, with the result of the first in the workspace.
RunFunction make(const NormalizedConvolutionDesc& desc, Pass pass, Signature& s) {
  if (pass == Pass::backward) return makeGradients(desc, s);
  const std::size_t first = desc.firstOfNorm();
  RunFunction norm = make(desc.norm, pass, s), convolution = make(desc.convolution, pass, s);
  s.workspace_bytes = s.inputs[0].sizeBytes();
  return [first, norm = std::move(norm),
          convolution = std::move(convolution)](const KernelArgs& args) -> Status {
    std::vector<const void*> from{args.inputs[0]};
    from.insert(from.end(), args.inputs.begin() + static_cast<std::ptrdiff_t>(first), args.inputs.end());
    void* const normalized[] = {args.context.workspace};
    PITWALL_TRY(norm({.inputs = from, .outputs = normalized, .context = args.context}));
    from.assign(args.inputs.begin(), args.inputs.begin() + static_cast<std::ptrdiff_t>(first));
    from[0] = args.context.workspace;
    return convolution({.inputs = from, .outputs = args.outputs, .context = args.context});
  };
}

}  // namespace pitwall::reference
