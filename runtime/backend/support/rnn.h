// A recurrent network's passes over products of matrices, which a backend provides.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/backend/support/random.h"
#include "runtime/backend/support/rnn_extents.h"

namespace pitwall {

inline float logistic(float x) { return 1 / (1 + std::exp(-x)); }

// Gemm: multiply(transpose_a, transpose_b, m, n, k, a, step_a, b, step_b, beta, c, step_c): c (m x n) = a b + beta c of row-major
// arrays, whose rows are a step apart.
template <class Gemm>
class Rnn {
 public:
  explicit Rnn(const RnnExtents& extents) : e_(extents), h_(extents.hidden()), g_(extents.gateRows()) {}

  // Floats that a pass needs while it runs: a layer's input after dropout; a step's product with the state of a GRU; the
  // gradients of a layer's output and input, and of what the activations got by input and by state.
  std::int64_t forwardScratch() const {
    return e_.droppedScratch() + (e_.desc.type == RnnType::gru ? e_.batch * g_ : 0);
  }
  std::int64_t backwardScratch() const { return e_.droppedScratch() + 2 * e_.rows() * (e_.widest() + g_); }

  void forward(const RnnForward& a) const {
    const float* in = a.data;
    for (std::int64_t layer = 0; layer < e_.desc.layers; ++layer) {
      if (layer > 0 && e_.drops()) {
        drawMask(layer - 1, a.seed, a.workspace + e_.maskAt(layer - 1));
        in = dropped(in, a.workspace + e_.maskAt(layer - 1), a.scratch);
      }
      float* out = layer + 1 == e_.desc.layers ? a.out : a.workspace + e_.outputAt(layer);
      for (std::int64_t d = 0; d < e_.directions(); ++d) forwardCell(a, layer, d, in, out);
      in = out;
    }
  }

  void backward(const RnnBackward& a) const {
    float *dout = a.scratch + e_.droppedScratch(), *din = dout + e_.rows() * e_.widest();
    std::copy_n(a.dout, e_.rows() * e_.width(), dout);
    for (std::int64_t layer = e_.desc.layers - 1; layer >= 0; --layer) {
      if (layer == 0) din = a.ddata;
      const float* in = layer == 0 ? a.data : a.workspace + e_.outputAt(layer - 1);
      const float* mask = layer > 0 && e_.drops() ? a.workspace + e_.maskAt(layer - 1) : nullptr;
      if (mask != nullptr) in = dropped(in, mask, a.scratch);
      for (std::int64_t d = 0; d < e_.directions(); ++d) backwardCell(a, layer, d, {in, dout, din});
      if (mask != nullptr) dropped(din, mask, din);
      std::swap(dout, din);
    }
  }

 private:
  // The draws of a layer follow those of the layers below it.
  void drawMask(std::int64_t layer, std::uint64_t seed, float* mask) const {
    const std::int64_t n = e_.layerElements();
    const std::uint64_t threshold = keepThreshold(e_.desc.dropout);
    const float scale = 1 / (1 - e_.desc.dropout);
    for (std::int64_t i = 0; i < n; ++i)
      mask[i] = randomBits(seed, static_cast<std::uint64_t>(layer * n + i)) < threshold ? scale : 0.0F;
  }
  // The output of a layer, or its gradient, times the mask.
  const float* dropped(const float* from, const float* mask, float* to) const {
    for (std::int64_t i = 0; i < e_.layerElements(); ++i) to[i] = from[i] * mask[i];
    return to;
  }

  // One step's arrays: N rows each, `out` of width() a row.
  struct Step {
    std::int64_t t;
    const float* state;  // before it
    std::int64_t state_step;
  };
  Step step(std::int64_t s, std::int64_t direction, const float* first, const float* out) const {
    const std::int64_t t = direction == 0 ? s : e_.steps - 1 - s;
    if (s == 0) return {t, first, h_};
    const std::int64_t before = direction == 0 ? t - 1 : t + 1;
    return {t, out + before * e_.batch * e_.width() + direction * h_, e_.width()};
  }
  std::int64_t stateAt(std::int64_t layer, std::int64_t d) const {
    return (layer * e_.directions() + d) * e_.stateElements();
  }

  void forwardCell(const RnnForward& a, std::int64_t layer, std::int64_t d, const float* in,
                   float* out) const {
    const std::int64_t columns = e_.columnsOf(layer), n = e_.batch;
    float* const product = a.scratch + e_.droppedScratch();  // of a GRU
    float *gates = a.workspace + e_.gatesAt(layer, d), *extra = a.workspace + e_.extraAt(layer, d);
    const float *bias = a.parameters + e_.bias(layer, d), *weight = a.parameters + e_.stateWeight(layer, d);
    const bool gru = e_.desc.type == RnnType::gru, lstm = e_.desc.type == RnnType::lstm;
    for (std::int64_t row = 0; row < e_.rows(); ++row) {
      for (std::int64_t j = 0; j < g_; ++j) gates[row * g_ + j] = bias[j] + (gru ? 0 : bias[g_ + j]);
    }
    Gemm::multiply(false, true, e_.rows(), g_, columns, in, columns, a.parameters + e_.inputWeight(layer, d),
                   columns, 1, gates, g_);
    const float *first = a.state + stateAt(layer, d), *cell = lstm ? a.cell + stateAt(layer, d) : nullptr;
    for (std::int64_t s = 0; s < e_.steps; ++s) {
      const Step now = step(s, d, first, out);
      float *z = gates + now.t * n * g_, *kept = extra + now.t * n * h_;
      float* to = out + now.t * n * e_.width() + d * h_;
      Gemm::multiply(false, true, n, g_, h_, now.state, now.state_step, weight, h_, gru ? 0.0F : 1.0F,
                     gru ? product : z, g_);
      for (std::int64_t i = 0; i < n; ++i) {
        if (lstm)
          lstmRow(z + i * g_, cell + i * h_, kept + i * h_, to + i * e_.width());
        else if (gru)
          gruRow(z + i * g_, product + i * g_, bias + g_, now.state + i * now.state_step, kept + i * h_,
                 to + i * e_.width());
        else
          plainRow(z + i * g_, to + i * e_.width());
      }
      if (lstm) cell = kept;
    }
    const std::int64_t last = d == 0 ? e_.steps - 1 : 0;
    for (std::int64_t i = 0; i < n; ++i)
      std::copy_n(out + (last * n + i) * e_.width() + d * h_, h_, a.state_out + stateAt(layer, d) + i * h_);
    if (lstm) std::copy_n(cell, n * h_, a.cell_out + stateAt(layer, d));
  }

  void lstmRow(float* z, const float* before, float* cell, float* out) const {
    for (std::int64_t j = 0; j < h_; ++j) {
      float &in = z[j], &forget = z[h_ + j], &fresh = z[2 * h_ + j], &shown = z[3 * h_ + j];
      in = logistic(in), forget = logistic(forget), fresh = std::tanh(fresh), shown = logistic(shown);
      cell[j] = forget * before[j] + in * fresh;
      out[j] = shown * std::tanh(cell[j]);
    }
  }
  void gruRow(float* z, const float* product, const float* bias, const float* before, float* kept,
              float* out) const {
    for (std::int64_t j = 0; j < h_; ++j) {
      float &reset = z[j], &update = z[h_ + j], &fresh = z[2 * h_ + j];
      reset = logistic(reset + product[j] + bias[j]);
      update = logistic(update + product[h_ + j] + bias[h_ + j]);
      kept[j] = product[2 * h_ + j] + bias[2 * h_ + j];
      fresh = std::tanh(fresh + reset * kept[j]);
      out[j] = (1 - update) * fresh + update * before[j];
    }
  }
  void plainRow(float* z, float* out) const {
    const bool relu = e_.desc.type == RnnType::relu;
    for (std::int64_t j = 0; j < h_; ++j) out[j] = z[j] = relu ? std::max(z[j], 0.0F) : std::tanh(z[j]);
  }

  // What a layer got, and the gradients of its output and of that. Adds to `din`, which the first direction sets.
  struct Layer {
    const float *in, *dout;
    float* din;
  };
  void backwardCell(const RnnBackward& a, std::int64_t layer, std::int64_t d, const Layer& at_layer) const {
    const auto& [in, dout, din] = at_layer;
    const bool top = layer + 1 == e_.desc.layers, lstm = e_.desc.type == RnnType::lstm;
    const float* out = top ? a.out : a.workspace + e_.outputAt(layer);
    const std::int64_t columns = e_.columnsOf(layer), n = e_.batch, at = stateAt(layer, d);
    // Of what the activations got: the input's part, and the state's.
    float *by_input = a.scratch + e_.droppedScratch() + 2 * e_.rows() * e_.widest(),
          *by_state = by_input + e_.rows() * g_;
    float *dh = a.dstate + at, *dc = lstm ? a.dcell + at : nullptr;
    std::copy_n(a.dstate_out + at, n * h_, dh);
    if (lstm) std::copy_n(a.dcell_out + at, n * h_, dc);
    const float* weight = a.parameters + e_.stateWeight(layer, d);
    float *dweight = a.dparameters + e_.stateWeight(layer, d), *dbias = a.dparameters + e_.bias(layer, d);
    std::fill_n(dweight, g_ * h_, 0.0F);
    for (std::int64_t s = e_.steps - 1; s >= 0; --s) {
      const Step now = step(s, d, a.state + at, out);
      float *to_input = by_input + now.t * n * g_, *to_state = by_state + now.t * n * g_;
      for (std::int64_t i = 0; i < n; ++i)
        backwardRow(a, layer, d, s, now, i, dout,
                    {dh + i * h_, lstm ? dc + i * h_ : nullptr, to_input + i * g_, to_state + i * g_});
      Gemm::multiply(true, false, g_, h_, n, to_state, g_, now.state, now.state_step, 1, dweight, h_);
      Gemm::multiply(false, false, n, h_, g_, to_state, g_, weight, h_, 1, dh, h_);
    }
    Gemm::multiply(true, false, g_, columns, e_.rows(), by_input, g_, in, columns, 0,
                   a.dparameters + e_.inputWeight(layer, d), columns);
    Gemm::multiply(false, false, e_.rows(), columns, g_, by_input, g_,
                   a.parameters + e_.inputWeight(layer, d), columns, d == 0 ? 0.0F : 1.0F, din, columns);
    sumRows(by_input, dbias);
    sumRows(by_state, dbias + g_);
  }

  struct RowGradients {
    float *dh, *dc;              // in: after the step; out: before it, without the product with the weight
    float *by_input, *by_state;  // gates
  };
  void backwardRow(const RnnBackward& a, std::int64_t layer, std::int64_t d, std::int64_t s, const Step& now,
                   std::int64_t i, const float* dout, const RowGradients& r) const {
    const std::int64_t row = now.t * e_.batch + i;
    const float* z = a.workspace + e_.gatesAt(layer, d) + row * g_;
    const float* extra = a.workspace + e_.extraAt(layer, d);
    for (std::int64_t j = 0; j < h_; ++j) r.dh[j] += dout[row * e_.width() + d * h_ + j];
    if (e_.desc.type == RnnType::lstm) {
      const std::int64_t before = (d == 0 ? now.t - 1 : now.t + 1) * e_.batch + i;
      const float* from = s == 0 ? a.cell + stateAt(layer, d) + i * h_ : extra + before * h_;
      lstmGradient(z, extra + row * h_, from, r);
    } else if (e_.desc.type == RnnType::gru) {
      gruGradient(z, extra + row * h_, now.state + i * now.state_step, r);
    } else {
      const bool relu = e_.desc.type == RnnType::relu;
      for (std::int64_t j = 0; j < h_; ++j) {
        r.by_input[j] = r.by_state[j] = r.dh[j] * (relu ? (z[j] > 0 ? 1.0F : 0.0F) : 1 - z[j] * z[j]);
        r.dh[j] = 0;
      }
    }
  }

  void lstmGradient(const float* z, const float* cell, const float* before, const RowGradients& r) const {
    for (std::int64_t j = 0; j < h_; ++j) {
      const float in = z[j], forget = z[h_ + j], fresh = z[2 * h_ + j], shown = z[3 * h_ + j];
      const float seen = std::tanh(cell[j]), dc = r.dc[j] + r.dh[j] * shown * (1 - seen * seen);
      r.by_input[j] = dc * fresh * in * (1 - in);
      r.by_input[h_ + j] = dc * before[j] * forget * (1 - forget);
      r.by_input[2 * h_ + j] = dc * in * (1 - fresh * fresh);
      r.by_input[3 * h_ + j] = r.dh[j] * seen * shown * (1 - shown);
      r.dc[j] = dc * forget;
      r.dh[j] = 0;
    }
    std::copy_n(r.by_input, g_, r.by_state);
  }
  void gruGradient(const float* z, const float* kept, const float* before, const RowGradients& r) const {
    for (std::int64_t j = 0; j < h_; ++j) {
      const float reset = z[j], update = z[h_ + j], fresh = z[2 * h_ + j], dh = r.dh[j];
      const float dfresh = dh * (1 - update) * (1 - fresh * fresh);
      r.by_input[j] = r.by_state[j] = dfresh * kept[j] * reset * (1 - reset);
      r.by_input[h_ + j] = r.by_state[h_ + j] = dh * (before[j] - fresh) * update * (1 - update);
      r.by_input[2 * h_ + j] = dfresh;
      r.by_state[2 * h_ + j] = dfresh * reset;
      r.dh[j] = dh * update;
    }
  }
  void sumRows(const float* rows, float* sums) const {
    std::fill_n(sums, g_, 0.0F);
    for (std::int64_t row = 0; row < e_.rows(); ++row) {
      for (std::int64_t j = 0; j < g_; ++j) sums[j] += rows[row * g_ + j];
    }
  }

  const RnnExtents e_;
  const std::int64_t h_, g_;
};

}  // namespace pitwall
