// Recurrent layers over a sequence.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

enum class RnnType : std::uint8_t { relu, tanh, lstm, gru };

// Of T steps of N samples: data T x N x C. A layer's directions are beside each other in its output: D is 1, or 2 when
// bidirectional. The states are layers * D x N x H; an LSTM also has cells. The parameters are one array: of each layer and
// direction the weight of its input, gates * H x its columns, and that of its state, gates * H x H; then of each the bias of
// both, gates * H. Gates: LSTM input, forget, cell, output; GRU reset, update, new, whose reset is applied after the product
// with the state.
//   inference: data, parameters, state, [cell] -> out T x N x D * H, state_out, [cell_out]
//   forward:   the same, and workspace (as Pooling's)
//   backward:  data, parameters, state, [cell], out, dout, dstate_out, [dcell_out], workspace
//              -> ddata, dparameters, dstate, [dcell]
struct RnnDesc {
  static const OperatorKind kKind;
  RnnType type = RnnType::lstm;
  bool bidirectional = false;
  std::int64_t hidden = 1;  // H
  std::int64_t layers = 1;
  float dropout =
      0;  // the share of each layer's output, but the last's, that training drops; seeded as Dropout
  // Elements of the parameters, for data of so many columns (C).
  std::int64_t parameters(std::int64_t columns) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const RnnDesc&, const RnnDesc&) = default;
};

// The outputs of a sequence. cell is empty unless of an LSTM.
struct RnnOutputs {
  NDArray out, state, cell;
};

namespace op {

// The gradients are those of `out`: a loss of the final states is not differentiated. `cell` of an LSTM only. The seed is that of
// the dropout.
Result<RnnOutputs> rnn(const NDArray& data, const NDArray& parameters, const NDArray& state,
                       const NDArray& cell, const RnnDesc& desc, std::uint64_t seed = 0,
                       const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
