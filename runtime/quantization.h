// Networks for inference on 8-bit numbers, as MXNet's quantize_model() makes them.
//
//   QuantizeOptions options{.batches = {images}};      // what the network will get, some hundred images
//   const Symbol small = PITWALL_TRY(quantize(session, net, arrays, options));
//   auto executor = PITWALL_TRY(Executor::bind(session, small, arrays));   // the same arrays
//
// The graph that is returned is the given one with a _contrib_quantize_v2 and a _contrib_dequantize around what convolutions, dense layers,
// pooling, batch normalisation and sums between them compute; it can be saved and loaded as any. An executor for inference has these
// operators compute on the 8-bit numbers (MXNET_SUBGRAPH_BACKEND=NONE: on the real numbers that those stand for), and converts weights to 8
// bits itself, with a scale for each channel. Processors without AVX512-VNNI or AVX-VNNI may limit sums of two products to 16 bits.
//
// MXNET_QUANTIZATION_VERBOSE=1 prints what is quantized, with its range. In the executor, MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL,
// ..._QFC_FLOAT_OUTPUT, ..._QEM_FUSE_ALL and ..._QEM_FLOAT_OUTPUT have dense layers (QFC) and products of elements (QEM) write int32, which
// an operator of its own converts; MXNET_MKLDNN_QFC_DYNAMIC_PARAMS=1 converts the weights of dense layers again when they have changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/result.h"
#include "runtime/device.h"
#include "runtime/ndarray.h"
#include "runtime/session.h"
#include "runtime/symbol.h"

namespace pitwall {

// Where the range of the numbers is from.
enum class Calibration : std::uint8_t {
  none,   // each pass finds it: for trying; nothing computes on 8-bit numbers then
  naive,  // the least and the largest number of the batches
  // As much of it as leaves the distribution most like it was (least Kullback-Leibler divergence): outliers are cut off. Test the accuracy:
  // networks whose large numbers matter lose much of it.
  entropy,
};

struct QuantizeOptions {
  Calibration calibration = Calibration::naive;
  std::vector<NDArray> batches = {};       // of `data`, all of one shape; none are needed without calibration
  std::string data = "data";               // the argument that they are given for
  std::vector<std::string> excluded = {};  // names of nodes that stay as they are
  std::string type = "auto";               // int8, uint8, or auto: uint8 where no number is negative
  Device device = {};                      // on which the network is run; the arrays are there
};

// `arrays` has the arguments and auxiliary states by name, as for Executor::bind(); `data` itself may be missing. Runs the network on each
// batch, for entropy twice. Errors: invalidInput without batches, for batches of several shapes, for an excluded name that no node has, and
// for numbers that are not finite, naming the output; those of Executor::bind().
Result<Symbol> quantize(Session& session, const Symbol& symbol, const std::map<std::string, NDArray>& arrays,
                        const QuantizeOptions& options);

}  // namespace pitwall
