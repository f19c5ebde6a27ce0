// Recurrent networks. The products with the input are one product for all steps; each step is a product with the state and a
// kernel for all else.
#pragma once

#include <memory>
#include <vector>

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/combine.h"
#include "runtime/backend/gpu_kernels/elementwise.h"
#include "runtime/backend/gpu_kernels/rnn_cell.h"
#include "runtime/backend/gpu_kernels/strided_product.h"
#include "runtime/backend/support/random.h"
#include "runtime/backend/support/rnn_kernel.h"

namespace pitwall::gpu_kernels {

// All products of a network's passes.
struct RnnProducts {
  RnnExtents e;

  StridedProduct input(std::int64_t layer) const {
    const std::int64_t columns = e.columnsOf(layer), g = e.gateRows();
    return {false, true, e.rows(), g, columns, columns, columns, g, 0};
  }
  StridedProduct state(std::int64_t state_step) const {
    const std::int64_t h = e.hidden(), g = e.gateRows();
    return {false, true, e.batch, g, h, state_step, h, g, 0};
  }
  StridedProduct dstate() const {
    const std::int64_t h = e.hidden(), g = e.gateRows();
    return {false, false, e.batch, h, g, g, h, h, 1};
  }
  // Of the first step, and of all others together.
  StridedProduct dweightOfFirst() const {
    const std::int64_t h = e.hidden(), g = e.gateRows();
    return {true, false, g, h, e.batch, g, h, h, 0};
  }
  StridedProduct dweightOfOthers() const {
    const std::int64_t h = e.hidden(), g = e.gateRows();
    return {true, false, g, h, (e.steps - 1) * e.batch, g, e.width(), h, 1};
  }
  StridedProduct dinputWeight(std::int64_t layer) const {
    const std::int64_t columns = e.columnsOf(layer), g = e.gateRows();
    return {true, false, g, columns, e.rows(), g, columns, columns, 0};
  }
  StridedProduct dinput(std::int64_t layer, std::int64_t direction) const {
    const std::int64_t columns = e.columnsOf(layer), g = e.gateRows();
    return {false, false, e.rows(), columns, g, g, columns, columns, direction == 0 ? 0.0F : 1.0F};
  }

  // Layers after the second have its products.
  std::int64_t kindsOfLayers() const { return std::min<std::int64_t>(e.desc.layers, 2); }
  std::vector<StridedProduct> ofForward() const {
    std::vector<StridedProduct> all{state(e.hidden())};
    if (e.steps > 1 && e.width() != e.hidden()) all.push_back(state(e.width()));
    for (std::int64_t layer = 0; layer < kindsOfLayers(); ++layer) all.push_back(input(layer));
    return all;
  }
  std::vector<StridedProduct> ofBackward() const {
    std::vector<StridedProduct> all{dstate(), dweightOfFirst()};
    if (e.steps > 1) all.push_back(dweightOfOthers());
    for (std::int64_t layer = 0; layer < kindsOfLayers(); ++layer) {
      all.push_back(dinputWeight(layer));
      for (std::int64_t d = 0; d < e.directions(); ++d) all.push_back(dinput(layer, d));
    }
    return all;
  }
  std::vector<StridedProduct> of(Pass pass) const {
    return pass == Pass::backward ? ofBackward() : ofForward();
  }
  // Every part of an array starts at a multiple of so many bytes from the array's start.
  Bytes alignment() const {
    const std::int64_t bits = e.hidden() | e.columns;
    return std::min<Bytes>((bits & -bits) * sizeOf(DType::float32), 64);
  }
};

// What passes need besides the products.
struct RnnScratch {
  RnnExtents e;

  std::int64_t forwardScratch() const { return e.droppedScratch() + e.batch * e.gateRows(); }
  std::int64_t backwardScratch() const {
    return sumsAt() + biasParts().sizeBytes(1) / sizeOf(DType::float32);
  }

  ChannelParts biasParts() const { return {{e.gateRows(), 1, true}, e.rows()}; }
  std::int64_t gradientsAt() const { return e.droppedScratch() + 2 * e.rows() * e.widest(); }
  // Of double.
  std::int64_t sumsAt() const {
    const std::int64_t gradients = e.desc.type == RnnType::gru ? 2 : 1;
    return (gradientsAt() + gradients * e.rows() * e.gateRows() + 1) / 2 * 2;
  }
};

struct RnnMask {
  std::uint64_t seed, first, threshold;
  float scale;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    return randomBits(seed, first + static_cast<std::uint64_t>(i)) < threshold ? scale : 0.0F;
  }
};

// One run of a pass.
template <class L>
class RnnRun : public RnnScratch {
 public:
  // `workspace`: of the products.
  RnnRun(const RnnExtents& extents, const StridedProducts& products, const KernelContext& context,
         void* workspace)
      : RnnScratch{extents},
        products_(products),
        all_{extents},
        context_(context),
        launch_(context),
        h_(extents.hidden()),
        g_(extents.gateRows()) {
    context_.workspace = workspace;
  }

  void forward(const RnnForward& a) {
    const float* in = a.data;
    for (std::int64_t layer = 0; layer < e.desc.layers; ++layer) {
      if (layer > 0 && e.drops()) {
        float* const mask = a.workspace + e.maskAt(layer - 1);
        const std::int64_t n = e.layerElements();
        launch_.map(n, mask,
                    RnnMask{a.seed, static_cast<std::uint64_t>((layer - 1) * n),
                            keepThreshold(e.desc.dropout), 1 / (1 - e.desc.dropout)});
        in = masked(in, mask, a.scratch);
      }
      float* const out = layer + 1 == e.desc.layers ? a.out : a.workspace + e.outputAt(layer);
      for (std::int64_t d = 0; d < e.directions(); ++d) forwardLayer(a, layer, d, in, out);
      in = out;
    }
  }

  void backward(const RnnBackward& a) {
    float* const images[] = {a.scratch + e.droppedScratch(),
                             a.scratch + e.droppedScratch() + e.rows() * e.widest()};
    const float* dout = a.dout;
    for (std::int64_t layer = e.desc.layers - 1; layer >= 0; --layer) {
      float* const din = layer == 0 ? a.ddata : images[layer % 2];
      const float* in = layer == 0 ? a.data : a.workspace + e.outputAt(layer - 1);
      const float* const mask = layer > 0 && e.drops() ? a.workspace + e.maskAt(layer - 1) : nullptr;
      if (mask != nullptr) in = masked(in, mask, a.scratch);
      for (std::int64_t d = 0; d < e.directions(); ++d) backwardLayer(a, layer, d, {in, dout, din});
      if (mask != nullptr) masked(din, mask, din);
      dout = din;
    }
  }

  Status status() {
    if (!status_.has_value()) return std::move(status_);
    return launch_.status();
  }

 private:
  struct Step {
    std::int64_t t;
    const float* state;  // before it
    std::int64_t state_step;
  };
  Step step(std::int64_t s, std::int64_t direction, const float* first, const float* out) const {
    const std::int64_t t = timeOf(s, direction);
    if (s == 0) return {t, first, h_};
    return {t, out + timeOf(s - 1, direction) * e.batch * e.width() + direction * h_, e.width()};
  }
  std::int64_t timeOf(std::int64_t s, std::int64_t direction) const {
    return direction == 0 ? s : e.steps - 1 - s;
  }
  std::int64_t stateAt(std::int64_t layer, std::int64_t d) const {
    return (layer * e.directions() + d) * e.stateElements();
  }
  const float* masked(const float* from, const float* mask, float* to) {
    launch_.map(e.layerElements(), to, Combine<float>{BinaryType::multiply, {from}, {mask}});
    return to;
  }
  void multiply(const StridedProduct& product, const float* left, const float* right, float* out) {
    if (status_.has_value()) (void)(status_ = products_.multiply(context_, product, left, right, out));
  }

  void forwardLayer(const RnnForward& a, std::int64_t layer, std::int64_t d, const float* in, float* out) {
    const std::int64_t n = e.batch, at = stateAt(layer, d);
    const bool lstm = e.desc.type == RnnType::lstm;
    float* const product = a.scratch + e.droppedScratch();
    float *const gates = a.workspace + e.gatesAt(layer, d), *const extra = a.workspace + e.extraAt(layer, d);
    multiply(all_.input(layer), in, a.parameters + e.inputWeight(layer, d), gates);
    const float* cell = lstm ? a.cell + at : nullptr;
    for (std::int64_t s = 0; s < e.steps; ++s) {
      const Step now = step(s, d, a.state + at, out);
      multiply(all_.state(now.state_step), now.state, a.parameters + e.stateWeight(layer, d), product);
      float* const kept = extra + now.t * n * h_;
      launch_.each(n * h_, RnnCell{.type = e.desc.type,
                                   .hidden = h_,
                                   .gates = e.gates(),
                                   .z = gates + now.t * n * g_,
                                   .product = product,
                                   .bias = a.parameters + e.bias(layer, d),
                                   .state = now.state,
                                   .state_step = now.state_step,
                                   .cell = cell,
                                   .extra = kept,
                                   .out = out + now.t * n * e.width() + d * h_,
                                   .width = e.width()});
      if (lstm) cell = kept;
    }
    const float* const last = out + timeOf(e.steps - 1, d) * n * e.width() + d * h_;
    launch_.map(n * h_, a.state_out + at, RnnLastState{h_, e.width(), last});
    if (lstm) launch_.map(n * h_, a.cell_out + at, CopyElement<float>{{cell}});
  }

  // What a layer got, and the gradients of its output and of that. Adds to `din`, which the first direction sets.
  struct Layer {
    const float *in, *dout;
    float* din;
  };
  void backwardLayer(const RnnBackward& a, std::int64_t layer, std::int64_t d, const Layer& at_layer) {
    const float* const out = layer + 1 == e.desc.layers ? a.out : a.workspace + e.outputAt(layer);
    const std::int64_t n = e.batch, at = stateAt(layer, d);
    float* const by_input = a.scratch + gradientsAt();
    float* const by_state = e.desc.type == RnnType::gru ? by_input + e.rows() * g_ : by_input;
    launch_.map(n * h_, a.dstate + at, CopyElement<float>{{a.dstate_out + at}});
    if (e.desc.type == RnnType::lstm)
      launch_.map(n * h_, a.dcell + at, CopyElement<float>{{a.dcell_out + at}});
    for (std::int64_t s = e.steps - 1; s >= 0; --s) {
      const Step now = step(s, d, a.state + at, out);
      float* const to_state = by_state + now.t * n * g_;
      launch_.each(n * h_,
                   cellGradient(a, layer, d, s, now, at_layer.dout, by_input + now.t * n * g_, to_state));
      multiply(all_.dstate(), to_state, a.parameters + e.stateWeight(layer, d), a.dstate + at);
    }
    float* const dweight = a.dparameters + e.stateWeight(layer, d);
    multiply(all_.dweightOfFirst(), by_state + timeOf(0, d) * n * g_, a.state + at, dweight);
    if (e.steps > 1) {  // all steps but the first, and the outputs of all but the last
      const std::int64_t steps_from = d == 0 ? 1 : 0, outputs_from = 1 - steps_from;
      multiply(all_.dweightOfOthers(), by_state + steps_from * n * g_,
               out + outputs_from * n * e.width() + d * h_, dweight);
    }
    multiply(all_.dinputWeight(layer), by_input, at_layer.in, a.dparameters + e.inputWeight(layer, d));
    multiply(all_.dinput(layer, d), by_input, a.parameters + e.inputWeight(layer, d), at_layer.din);
    float* const dbias = a.dparameters + e.bias(layer, d);
    sumChannels<float>(launch_, biasParts(), In<float>{by_input}, a.scratch + sumsAt(), dbias);
    sumChannels<float>(launch_, biasParts(), In<float>{by_state}, a.scratch + sumsAt(), dbias + g_);
  }

  RnnCellGradient cellGradient(const RnnBackward& a, std::int64_t layer, std::int64_t d, std::int64_t s,
                               const Step& now, const float* dout, float* by_input, float* by_state) const {
    const std::int64_t n = e.batch, at = stateAt(layer, d);
    const bool lstm = e.desc.type == RnnType::lstm;
    const float* const extra = a.workspace + e.extraAt(layer, d);
    const float* cell = nullptr;
    if (lstm) cell = s == 0 ? a.cell + at : extra + timeOf(s - 1, d) * n * h_;
    return {.type = e.desc.type,
            .hidden = h_,
            .gates = e.gates(),
            .z = a.workspace + e.gatesAt(layer, d) + now.t * n * g_,
            .extra = extra + now.t * n * h_,
            .state = now.state,
            .state_step = now.state_step,
            .cell = cell,
            .dout = dout + now.t * n * e.width() + d * h_,
            .width = e.width(),
            .dstate = a.dstate + at,
            .dcell = lstm ? a.dcell + at : nullptr,
            .by_input = by_input,
            .by_state = by_state};
  }

  const StridedProducts& products_;
  const RnnProducts all_;
  KernelContext context_;  // of the products
  L launch_;
  Status status_;
  const std::int64_t h_, g_;
};

// With the products of a library.
template <class L>
GpuFunction rnnFunction(const RnnDesc& desc, Pass pass, Signature& s,
                        std::shared_ptr<const StridedProducts> products) {
  const RnnExtents e = rnnExtents(desc, pass, s);
  setRnnWorkspaces(RnnScratch{e}, e, pass, s);
  const Bytes products_at = (s.workspace_bytes + 255) / 256 * 256;
  s.workspace_bytes = products_at + products->workspaceBytes();
  const bool lstm = desc.type == RnnType::lstm;
  return [=](const KernelArgs& a) {
    RnnRun<L> run(e, *products, a.context, static_cast<char*>(a.context.workspace) + products_at);
    if (pass == Pass::backward)
      runRnnGradient(run, lstm, a);
    else
      runRnn(run, e, pass == Pass::forward, a);
    return run.status();
  };
}

template <class L>
GpuFunction make(const RnnDesc& desc, Pass pass, Signature& s) {
  return rnnFunction<L>(desc, pass, s, std::make_shared<PlainProducts<L>>());
}

}  // namespace pitwall::gpu_kernels
