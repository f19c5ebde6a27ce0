// One step of a recurrent network, in each direction of time.
#pragma once

#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators/rnn.h"

namespace pitwall::gpu_kernels {

// The element of the hidden state that a thread computes.
struct RnnElement {
  std::int64_t sample, j;
  std::int64_t hidden, gates;

  RnnElement() = default;
  PITWALL_DEVICE RnnElement(std::int64_t i, std::int64_t of_hidden, std::int64_t of_gates)
      : sample(quotientOf(i, of_hidden)), j(remainderOf(i, of_hidden)), hidden(of_hidden), gates(of_gates) {}
  // In an array with all gates of each sample.
  PITWALL_DEVICE std::int64_t gate(std::int64_t k) const { return (sample * gates + k) * hidden + j; }
};

// The gates are written over their products with the input.
struct RnnCell {
  RnnType type;
  std::int64_t hidden, gates;
  float* z;
  const float *product, *bias;  // the products with the state; the bias of the input, then that of the state
  const float* state;           // before the step, rows a step apart
  std::int64_t state_step;
  const float* cell;  // before the step
  float* extra;       // of an LSTM the cell after it; of a GRU the state's part of the new gate
  float* out;         // rows a width apart
  std::int64_t width;

  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const RnnElement e(i, hidden, gates);
    float& to = out[e.sample * width + e.j];
    switch (type) {
      case RnnType::lstm: to = lstm(e, i); return;
      case RnnType::gru: to = gru(e, i); return;
      case RnnType::relu:
      case RnnType::tanh: {
        const float sum = byInput(e, 0) + byState(e, 0);
        to = z[i] = type == RnnType::relu ? (sum > 0 ? sum : 0) : tanhf(sum);
      }
    }
  }

 private:
  PITWALL_DEVICE float byInput(const RnnElement& e, std::int64_t k) const {
    return z[e.gate(k)] + bias[k * hidden + e.j];
  }
  PITWALL_DEVICE float byState(const RnnElement& e, std::int64_t k) const {
    return product[e.gate(k)] + bias[(gates + k) * hidden + e.j];
  }
  PITWALL_DEVICE float lstm(const RnnElement& e, std::int64_t i) const {
    const float in = sigmoidOf(byInput(e, 0) + byState(e, 0)),
                forget = sigmoidOf(byInput(e, 1) + byState(e, 1)),
                fresh = tanhf(byInput(e, 2) + byState(e, 2)),
                shown = sigmoidOf(byInput(e, 3) + byState(e, 3));
    z[e.gate(0)] = in, z[e.gate(1)] = forget, z[e.gate(2)] = fresh, z[e.gate(3)] = shown;
    extra[i] = forget * cell[i] + in * fresh;
    return shown * tanhf(extra[i]);
  }
  PITWALL_DEVICE float gru(const RnnElement& e, std::int64_t i) const {
    const float reset = sigmoidOf(byInput(e, 0) + byState(e, 0)),
                update = sigmoidOf(byInput(e, 1) + byState(e, 1));
    extra[i] = byState(e, 2);
    const float fresh = tanhf(byInput(e, 2) + reset * extra[i]);
    z[e.gate(0)] = reset, z[e.gate(1)] = update, z[e.gate(2)] = fresh;
    return (1 - update) * fresh + update * state[e.sample * state_step + e.j];
  }
};

// The gradients of what the gates' functions got, and what is left for the step before. `dstate` gets the products with the
// gradients afterwards.
struct RnnCellGradient {
  RnnType type;
  std::int64_t hidden, gates;
  const float *z, *extra;  // as the forward pass left them
  const float* state;      // before the step, rows a step apart
  std::int64_t state_step;
  const float* cell;  // before the step
  const float* dout;  // rows a width apart
  std::int64_t width;
  float *dstate, *dcell;       // in: after the step; out: before it
  float *by_input, *by_state;  // differ in a GRU alone

  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const RnnElement e(i, hidden, gates);
    const float d = dstate[i] + dout[e.sample * width + e.j];
    switch (type) {
      case RnnType::lstm: dstate[i] = lstm(e, i, d); return;
      case RnnType::gru: dstate[i] = gru(e, i, d); return;
      case RnnType::relu: by_input[i] = z[i] > 0 ? d : 0; break;
      case RnnType::tanh: by_input[i] = d * (1 - z[i] * z[i]); break;
    }
    dstate[i] = 0;
  }

 private:
  PITWALL_DEVICE float lstm(const RnnElement& e, std::int64_t i, float d) const {
    const float in = z[e.gate(0)], forget = z[e.gate(1)], fresh = z[e.gate(2)], shown = z[e.gate(3)];
    const float seen = tanhf(extra[i]), dc = dcell[i] + d * shown * (1 - seen * seen);
    by_input[e.gate(0)] = dc * fresh * in * (1 - in);
    by_input[e.gate(1)] = dc * cell[i] * forget * (1 - forget);
    by_input[e.gate(2)] = dc * in * (1 - fresh * fresh);
    by_input[e.gate(3)] = d * seen * shown * (1 - shown);
    dcell[i] = dc * forget;
    return 0;
  }
  PITWALL_DEVICE float gru(const RnnElement& e, std::int64_t i, float d) const {
    const float reset = z[e.gate(0)], update = z[e.gate(1)], fresh = z[e.gate(2)];
    const float dfresh = d * (1 - update) * (1 - fresh * fresh);
    const float dreset = dfresh * extra[i] * reset * (1 - reset),
                dupdate = d * (state[e.sample * state_step + e.j] - fresh) * update * (1 - update);
    by_input[e.gate(0)] = by_state[e.gate(0)] = dreset;
    by_input[e.gate(1)] = by_state[e.gate(1)] = dupdate;
    by_input[e.gate(2)] = dfresh;
    by_state[e.gate(2)] = dfresh * reset;
    return d * update;
  }
};

// Of each sample's row of a layer's output, whose rows are a width apart.
struct RnnLastState {
  std::int64_t hidden, width;
  const float* from;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    return from[quotientOf(i, hidden) * width + remainderOf(i, hidden)];
  }
};

}  // namespace pitwall::gpu_kernels
