// What convolutions and their transposes ask of cuDNN, and that cuDNN has engines for it.
#include "runtime/backend/cuda/convolution_request.h"

#include <gmock/gmock.h>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "tests/runtime/gpu/described_gpu.h"

namespace pitwall::cuda::convolution_request_test {
namespace {

using Kind = ConvolutionProblem::Kind;
using Place = ConvolutionRequest::Place;

Signature signatureOf(const OperatorKindDesc& desc, Pass pass, const std::vector<TensorSpec>& inputs,
                      const TensorSpec& like = {}) {
  auto signature = inferSignature(desc, pass, inputs, &like);
  EXPECT_TRUE(signature.has_value()) << signature.error().message;
  return signature.has_value() ? *std::move(signature) : Signature();
}

TEST(ConvolutionRequest, AConvolutionHasItsChannelsLast) {
  const ConvolutionDesc desc{.kernel = {3, 3},
                             .pad = {1, 1},
                             .channels = 8,
                             .adds = true,
                             .activation = {.type = FusedActivation::Type::relu}};
  Signature s{{{{2, 4, 6, 6}}, {{8, 4, 3, 3}}, {{8}}, {{2, 8, 6, 6}}}, {{{2, 8, 6, 6}}}};
  const ConvolutionRequest r = ConvolutionRequest::of(desc, Pass::inference, s);
  const ConvolutionProblem& p = r.problem;
  EXPECT_TRUE(p.channels_last && p.bias && p.adds && p.relu);
  EXPECT_EQ(r.activation.type, FusedActivation::Type::relu);
  EXPECT_EQ(p.x, (Extents{2, 4, 6, 6}));
  EXPECT_EQ(p.w, (Extents{8, 4, 3, 3}));
  EXPECT_EQ(p.y, (Extents{2, 8, 6, 6}));
  EXPECT_EQ(r.bias, (Place{false, 2}));
  EXPECT_EQ(r.addend, (Place{false, 3}));
  for (const std::size_t i : {0U, 1U, 3U}) EXPECT_TRUE(gpu_kernels::isChannelsLast(s.inputs[i])) << i;
  EXPECT_EQ(s.inputs[2].layout, nullptr);
  EXPECT_TRUE(gpu_kernels::isChannelsLast(s.outputs[0]));
}

TEST(ConvolutionRequest, ALineStaysRowMajor) {
  Signature line{{{{2, 4, 6}}, {{8, 4, 3}}}, {{{2, 8, 4}}}};
  const ConvolutionDesc desc{.kernel = {1, 3}, .channels = 8, .bias = false};
  const ConvolutionRequest r = ConvolutionRequest::of(desc, Pass::forward, line);
  EXPECT_FALSE(r.problem.channels_last);
  EXPECT_EQ(r.problem.x, (Extents{2, 4, 1, 6}));
  EXPECT_FALSE(r.bias.has_value());
}

TEST(ConvolutionRequest, TheBiasOfAConvolutionGetsTheSumsOfItsResult) {
  Signature s{{{{2, 4, 6, 6}}, {{2, 8, 6, 6}}}, {{{8, 4, 3, 3}}, {{8}}}};
  const ConvolutionDesc desc{.kernel = {3, 3}, .pad = {1, 1}, .channels = 8};
  const ConvolutionRequest r = ConvolutionRequest::of(desc, Pass::backwardWeights, s);
  EXPECT_EQ(r.problem.kind, Kind::weights);
  EXPECT_EQ(r.bias_gradient, (Place{false, 1}));
  EXPECT_EQ(r.biasExtents(), r.problem.y);
  EXPECT_TRUE(gpu_kernels::isChannelsLast(s.outputs[0]));
}

// Each pass, of images that a deconvolution makes twice as large.
struct Transposed : testing::Test {
  DeconvolutionDesc desc{
      .kernel = {4, 4}, .stride = {2, 2}, .pad = {1, 1}, .channels = 6, .groups = 2, .bias = true};
  const TensorSpec data{{2, 4, 5, 5}}, weight{{4, 3, 4, 4}}, bias{{6}}, out{{2, 6, 10, 10}};
  const Extents small{2, 4, 5, 5}, large{2, 6, 10, 10};
};

TEST_F(Transposed, ForwardIsAGradientOfData) {
  Signature s = signatureOf(desc, Pass::forward, {data, weight, bias});
  const ConvolutionRequest r = ConvolutionRequest::of(desc, Pass::forward, s);
  EXPECT_EQ(r.problem.kind, Kind::data);
  EXPECT_EQ(r.problem.x, large);
  EXPECT_EQ(r.problem.y, small);
  EXPECT_EQ(r.x, (Place{true, 0}));
  EXPECT_EQ(r.y, (Place{false, 0}));
  EXPECT_EQ(r.bias, (Place{false, 2}));
  EXPECT_FALSE(r.problem.bias) << "no engine of cuDNN adds it";
  EXPECT_TRUE(gpu_kernels::isChannelsLast(s.outputs[0]));
}

TEST_F(Transposed, TheGradientOfDataIsAConvolution) {
  Signature s = signatureOf(desc, Pass::backwardData, {out, weight}, data);
  const ConvolutionRequest r = ConvolutionRequest::of(desc, Pass::backwardData, s);
  EXPECT_EQ(r.problem.kind, Kind::forward);
  EXPECT_EQ(r.x, (Place{false, 0}));
  EXPECT_EQ(r.y, (Place{true, 0}));
  EXPECT_FALSE(r.bias.has_value());
}

TEST_F(Transposed, TheBiasGetsTheSumsOfTheLargeImages) {
  Signature s = signatureOf(desc, Pass::backwardWeights, {data, out}, weight);
  const ConvolutionRequest r = ConvolutionRequest::of(desc, Pass::backwardWeights, s);
  EXPECT_EQ(r.problem.kind, Kind::weights);
  EXPECT_EQ(r.x, (Place{false, 1}));
  EXPECT_EQ(r.y, (Place{false, 0}));
  EXPECT_EQ(r.w, (Place{true, 0}));
  EXPECT_EQ(r.bias_gradient, r.x);
  EXPECT_EQ(r.biasExtents(), large);
}

TEST_F(Transposed, CudnnHasEnginesForEveryPass) {
  const auto gpu = test::DescribedGpu::open();
  if (!gpu.has_value()) GTEST_SKIP() << gpu.error().message;
  for (const DType type : {DType::float32, DType::float16, DType::bfloat16}) {
    const auto of = [type](TensorSpec spec) {
      spec.dtype = type;
      return spec;
    };
    const std::tuple<Pass, std::vector<TensorSpec>, TensorSpec> passes[] = {
        {Pass::forward, {of(data), of(weight), of(bias)}, {}},
        {Pass::backwardData, {of(out), of(weight)}, of(data)},
        {Pass::backwardWeights, {of(data), of(out)}, of(weight)}};
    for (const auto& [pass, inputs, like] : passes) {
      Signature s = signatureOf(desc, pass, inputs, like);
      const ConvolutionProblem problem = ConvolutionRequest::of(desc, pass, s).problem;
      auto engines = enginesFor(gpu->api, gpu->device, problem, {});
      ASSERT_TRUE(engines.has_value()) << engines.error().message;
      ASSERT_FALSE(engines->empty()) << problem.describe();
      EXPECT_TRUE(engines->front().build(gpu->api, gpu->device).has_value()) << problem.describe();
    }
  }
}

}  // namespace
}  // namespace pitwall::cuda::convolution_request_test
