// A recurrent network as a function of a kernel's arrays.
#pragma once

#include "runtime/backend/support/function_kernel.h"
#include "runtime/backend/support/rnn.h"

namespace pitwall {

// An R has forwardScratch(), backwardScratch(), forward() and backward().
template <class R>
void runRnn(R& rnn, const RnnExtents& e, bool keeps, const KernelArgs& a) {
  const bool lstm = e.desc.type == RnnType::lstm;
  auto* const scratch = static_cast<float*>(a.context.workspace);
  rnn.forward({.data = input(a, 0),
               .parameters = input(a, 1),
               .state = input(a, 2),
               .cell = lstm ? input(a, 3) : nullptr,
               .out = output(a, 0),
               .state_out = output(a, 1),
               .cell_out = lstm ? output(a, 2) : nullptr,
               .workspace = keeps ? output(a, lstm ? 3 : 2) : scratch + rnn.forwardScratch(),
               .scratch = scratch,
               .seed = a.context.seed});
}

template <class R>
void runRnnGradient(R& rnn, bool lstm, const KernelArgs& a) {
  const std::size_t given = lstm ? 4 : 3;
  rnn.backward({.data = input(a, 0),
                .parameters = input(a, 1),
                .state = input(a, 2),
                .cell = lstm ? input(a, 3) : nullptr,
                .out = input(a, given),
                .dout = input(a, given + 1),
                .dstate_out = input(a, given + 2),
                .dcell_out = lstm ? input(a, given + 3) : nullptr,
                .workspace = input(a, 2 * given),
                .ddata = output(a, 0),
                .dparameters = output(a, 1),
                .dstate = output(a, 2),
                .dcell = lstm ? output(a, 3) : nullptr,
                .scratch = static_cast<float*>(a.context.workspace)});
}

inline RnnExtents rnnExtents(const RnnDesc& desc, Pass pass, const Signature& s) {
  const Shape& data = s.inputs[0].shape;
  RnnExtents e{desc, data[0], data[1], data[2]};
  if (pass == Pass::inference) e.desc.dropout = 0;
  return e;
}

// Sets the workspace that the forward pass writes, and that of the run. Inference keeps in the latter what training writes to
// the former.
template <class R>
void setRnnWorkspaces(const R& rnn, const RnnExtents& e, Pass pass, Signature& s) {
  const bool keeps = pass == Pass::forward;
  const std::int64_t floats =
      pass == Pass::backward ? rnn.backwardScratch() : rnn.forwardScratch() + (keeps ? 0 : e.workspace());
  s.workspace_bytes = floats * sizeOf(DType::float32);
  if (keeps) s.outputs.back().shape = {e.workspace() * sizeOf(DType::float32)};
}

template <class Gemm>
RunFunction rnnFunction(const RnnDesc& desc, Pass pass, Signature& s) {
  const RnnExtents e = rnnExtents(desc, pass, s);
  const Rnn<Gemm> rnn(e);
  setRnnWorkspaces(rnn, e, pass, s);
  const bool lstm = desc.type == RnnType::lstm, keeps = pass == Pass::forward;
  if (pass == Pass::backward)
    return [=](const KernelArgs& a) { return runRnnGradient(rnn, lstm, a), Status{}; };
  return [=](const KernelArgs& a) { return runRnn(rnn, e, keeps, a), Status{}; };
}

}  // namespace pitwall
