#include <utility>
#include <vector>

#include "db/try.h"
#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

// One after the other, with the result of the first in the workspace.
RunFunction make(const NormalizedConvolutionDesc& desc, Pass pass, Signature& s) {
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
