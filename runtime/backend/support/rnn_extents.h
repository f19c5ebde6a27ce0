// The extents of a recurrent network, and the arrays of its passes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/operators/rnn.h"

namespace pitwall {

// Extents, and where things are in the parameters and in the workspace (floats).
struct RnnExtents {
  RnnDesc desc;
  std::int64_t steps, batch, columns;  // T, N, C

  std::int64_t hidden() const { return desc.hidden; }
  std::int64_t directions() const { return desc.bidirectional ? 2 : 1; }
  std::int64_t gates() const { return desc.type == RnnType::lstm ? 4 : desc.type == RnnType::gru ? 3 : 1; }
  std::int64_t gateRows() const { return gates() * hidden(); }
  std::int64_t rows() const { return steps * batch; }
  std::int64_t width() const { return directions() * hidden(); }  // of a layer's output
  std::int64_t columnsOf(std::int64_t layer) const { return layer == 0 ? columns : width(); }
  std::int64_t stateElements() const { return batch * hidden(); }  // of one layer and direction

  std::int64_t inputWeight(std::int64_t layer, std::int64_t direction) const {
    const std::int64_t before = layer == 0 ? 0 : columns + (layer - 1) * width() + layer * hidden();
    return gateRows() * (directions() * before + direction * (columnsOf(layer) + hidden()));
  }
  std::int64_t stateWeight(std::int64_t layer, std::int64_t direction) const {
    return inputWeight(layer, direction) + gateRows() * columnsOf(layer);
  }
  std::int64_t bias(std::int64_t layer, std::int64_t direction) const {  // of the input, then of the state
    return inputWeight(desc.layers, 0) + (layer * directions() + direction) * 2 * gateRows();
  }
  std::int64_t parameters() const { return bias(desc.layers, 0); }

  // Workspace: of each layer and direction its gates, and cells (LSTM) or the state's part of the new gate (GRU); then the
  // outputs of all layers but the last.
  std::int64_t cellPart() const { return rows() * (gateRows() + hidden()); }
  std::int64_t gatesAt(std::int64_t layer, std::int64_t direction) const {
    return (layer * directions() + direction) * cellPart();
  }
  std::int64_t extraAt(std::int64_t layer, std::int64_t direction) const {
    return gatesAt(layer, direction) + rows() * gateRows();
  }
  std::int64_t outputAt(std::int64_t layer) const {
    return gatesAt(desc.layers, 0) + layer * rows() * width();
  }
  // With dropout also, of the same layers, what each element of the output is multiplied by: 0, or 1 / (1 - dropout).
  bool drops() const { return desc.dropout > 0 && desc.layers > 1; }
  std::int64_t layerElements() const { return rows() * width(); }
  std::int64_t maskAt(std::int64_t layer) const {
    return outputAt(desc.layers - 1) + layer * layerElements();
  }
  std::int64_t workspace() const { return drops() ? maskAt(desc.layers - 1) : outputAt(desc.layers - 1); }

  std::int64_t droppedScratch() const {
    return drops() ? layerElements() : 0;
  }  // a layer's input after dropout
  std::int64_t widest() const { return std::max(columns, width()); }
};

struct RnnForward {
  const float *data, *parameters, *state, *cell;
  float *out, *state_out, *cell_out, *workspace, *scratch;
  std::uint64_t seed;
};
struct RnnBackward {
  const float *data, *parameters, *state, *cell, *out, *dout, *dstate_out, *dcell_out, *workspace;
  float *ddata, *dparameters, *dstate, *dcell, *scratch;
};

}  // namespace pitwall
