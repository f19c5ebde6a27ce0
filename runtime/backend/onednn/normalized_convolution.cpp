// A BatchNorm and the convolution of its result, in pieces of the batch that are still in the cache when the convolution reads
// them.
#include <algorithm>
#include <optional>

#include "runtime/backend/onednn/batch_norm.h"
#include "runtime/backend/onednn/convolution_choice.h"
#include "runtime/backend/onednn/openmp_limit.h"
#include "runtime/backend/onednn/operators.h"

namespace pitwall::onednn {
namespace {

// The largest divisor of the batch of which the data are within the limit; at least 1.
std::int64_t imagesOfPiece(const Shape& data) {
  const std::int64_t batch = data[0];
  const Bytes image = TensorSpec{.shape = data}.sizeBytes() / batch;
  std::int64_t images = std::clamp<std::int64_t>(NormalizedConvolutionDesc::kPieceBytes / image, 1, batch);
  while (batch % images != 0) --images;
  return images;
}

ConvolutionProblem problemOfPiece(const ConvolutionDesc& d, const Request& r, std::int64_t images) {
  ConvolutionProblem p = problemOf(d, r.inputs[0].shape, r.inputs[1].shape, r.signature.outputs[0].shape);
  p.data[0] = p.out[0] = images;
  return p;
}

// A convolution of so many images, as often as the batch has them.
struct Pieces {
  std::int64_t count;
  ChosenConvolution chosen;
  std::optional<Desc> data,
      out;  // of the whole batch; none where pieces are not one after the other in memory
};

Pieces piecesOf(const ConvolutionDesc& d, const Request& r, std::int64_t images) {
  const std::int64_t batch = r.inputs[0].shape[0];
  Pieces pieces{batch / images, chooseConvolution(d, r, problemOfPiece(d, r, images)), {}, {}};
  pieces.data = ofBatch(pieces.chosen.primitive.src_desc(), batch);
  pieces.out = ofBatch(pieces.chosen.primitive.dst_desc(), batch);
  if (pieces.count == 1 || (pieces.data && pieces.out)) return pieces;
  return piecesOf(d, r, batch);
}

}  // namespace

KernelPtr make(const NormalizedConvolutionDesc& d, const Request& r) {
  const Pieces pieces = piecesOf(d.convolution, r, imagesOfPiece(r.inputs[0].shape));
  const ConvolutionForward& pd = pieces.chosen.primitive;
  const OpenMpLimit limit(pieces.chosen.threads);
  auto kernel = std::make_shared<PrimitiveKernel>(r.engine, r.signature, pd.impl_info_str());
  kernel->setThreads(pieces.chosen.threads);
  kernel->setMeasured(static_cast<double>(pieces.count) * pieces.chosen.seconds);
  kernel->setPieces(pieces.count);
  kernel->setInput(0, pieces.data.value_or(pd.src_desc()));
  kernel->setInput(1, pd.weights_desc());
  kernel->setOutput(0, pieces.out.value_or(pd.dst_desc()));
  const auto one = [](const Place& whole, const Desc& piece) {
    return eachPiece(whole, static_cast<Bytes>(piece.get_size()));
  };
  const Place out = one(outputAt(0), pd.dst_desc()), normalized = kernel->addTemporary(pd.src_desc());
  const std::size_t first = d.firstOfNorm();
  addNorm(*kernel, normOf(d.norm, r, pd.src_desc()),
          {.data = one(inputAt(0), pd.src_desc()),
           .gamma = inputAt(first),
           .beta = inputAt(first + 1),
           .mean = inputAt(first + 2),
           .variance = inputAt(first + 3),
           .out = normalized});
  if (d.convolution.adds) {
    // The primitive adds to what its output holds.
    const std::size_t addend = first - 1;
    kernel->setInput(addend, pieces.out.value_or(pd.dst_desc()));
    addReorder(*kernel, r.engine, pd.dst_desc(), one(inputAt(addend), pd.dst_desc()), pd.dst_desc(), out);
    kernel->skipInPlace(addend, 0);
  }
  std::vector<Argument> arguments{{DNNL_ARG_SRC, pd.src_desc(), normalized},
                                  {DNNL_ARG_WEIGHTS, pd.weights_desc(), inputAt(1)},
                                  {DNNL_ARG_DST, pd.dst_desc(), out}};
  if (d.convolution.bias) arguments.push_back({DNNL_ARG_BIAS, pd.bias_desc(), inputAt(2)});
  kernel->addStep(dnnl::convolution_forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return kernel;
}

}  // namespace pitwall::onednn
