// cuDNN's engines for a GPU that is described in a file: descriptors, heuristics and filters of the real library, without a GPU.
#include <gmock/gmock.h>

#include <algorithm>

#include "runtime/backend/cuda/convolution_engines.h"
#include "tests/runtime/gpu/described_gpu.h"

namespace pitwall::cuda::cudnn_engines_test {
namespace {

using testing::HasSubstr;
using Kind = ConvolutionProblem::Kind;
constexpr std::uint32_t kTensorCore = 1U << CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
                        kNondeterministic = 1U << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;

class CudnnEngines : public testing::Test {
 protected:
  void SetUp() override {
    const auto gpu = test::DescribedGpu::open();
    if (!gpu.has_value()) GTEST_SKIP() << gpu.error().message;
    api_ = &gpu->api;
    device_ = gpu->device;
  }

  std::vector<Engine> enginesOf(const ConvolutionProblem& problem, const EngineSearch& search = {}) {
    auto engines = enginesFor(*api_, device_, problem, search);
    EXPECT_TRUE(engines.has_value()) << engines.error().message;
    if (!engines.has_value()) return {};
    for (Engine& engine : *engines) {
      const Status built = engine.build(*api_, device_);
      EXPECT_TRUE(built.has_value()) << engine.name << ": " << built.error().message;
    }
    return *engines;
  }

  // A layer of ResNet-50.
  static ConvolutionProblem layer(Kind kind = Kind::forward, bool channels_last = true) {
    return {.kind = kind,
            .channels_last = channels_last,
            .x = {32, 64, 56, 56},
            .w = {64, 64, 3, 3},
            .y = {32, 64, 56, 56},
            .pad = {1, 1}};
  }

  const CudnnApi* api_ = nullptr;
  Descriptor device_;
};

TEST_F(CudnnEngines, EveryPassHasSomeInBothLayouts) {
  for (const Kind kind : {Kind::forward, Kind::data, Kind::weights}) {
    for (const bool channels_last : {true, false}) {
      const auto engines = enginesOf(layer(kind, channels_last));
      EXPECT_GE(engines.size(), 3U) << layer(kind, channels_last).describe();
      for (const Engine& engine : engines) {
        EXPECT_TRUE(engine.is_fused);
        EXPECT_GE(engine.workspace_bytes, 0);
        EXPECT_THAT(engine.name, HasSubstr("engine "));
      }
    }
  }
}

TEST_F(CudnnEngines, ForbiddenKindsAreLeftOut) {
  for (const Kind kind : {Kind::forward, Kind::data, Kind::weights}) {
    const auto all = enginesOf(layer(kind), {.most = 100});
    const auto has = [](const std::vector<Engine>& engines, std::uint32_t note) {
      return std::any_of(engines.begin(), engines.end(),
                         [&](const Engine& e) { return (e.notes & note) != 0; });
    };
    EXPECT_TRUE(has(all, kTensorCore));
    const auto exact = enginesOf(layer(kind), {.forbidden_notes = kTensorCore, .most = 100});
    EXPECT_FALSE(has(exact, kTensorCore));
    EXPECT_FALSE(exact.empty());
    const auto repeatable = enginesOf(layer(kind), {.forbidden_notes = kNondeterministic, .most = 100});
    EXPECT_FALSE(has(repeatable, kNondeterministic));
    EXPECT_FALSE(repeatable.empty());
  }
}

TEST_F(CudnnEngines, WhatFollowsAConvolutionIsFusedOrLeftToOthers) {
  ConvolutionProblem fused = layer();
  fused.bias = fused.adds = fused.relu = true;
  for (const std::uint32_t forbidden : {0U, kTensorCore}) {
    const auto engines = enginesOf(fused, {.forbidden_notes = forbidden});
    const auto in_one =
        std::count_if(engines.begin(), engines.end(), [](const Engine& e) { return e.is_fused; });
    EXPECT_GT(in_one, 0);
    EXPECT_LT(in_one, static_cast<std::ptrdiff_t>(engines.size())) << "and the convolution alone";
    EXPECT_TRUE(engines.front().is_fused);
  }
}

TEST_F(CudnnEngines, AsManyAsAskedForAndOneThatAlwaysWorks) {
  EXPECT_EQ(enginesOf(layer(), {.most = 2}).size(), 3U);
}

TEST_F(CudnnEngines, ManyShapes) {
  ConvolutionProblem first = {.x = {32, 3, 224, 224}, .w = {64, 3, 7, 7}, .y = {32, 64, 112, 112}};
  first.stride = {2, 2}, first.pad = {3, 3};
  ConvolutionProblem by_channel = {.x = {8, 32, 14, 14}, .w = {32, 1, 3, 3}, .y = {8, 32, 14, 14}};
  by_channel.pad = {1, 1};
  ConvolutionProblem groups = {.x = {2, 32, 8, 8}, .w = {32, 16, 3, 3}, .y = {2, 32, 6, 6}};
  ConvolutionProblem odd = {.x = {2, 19, 10, 9}, .w = {7, 19, 3, 2}, .y = {2, 7, 6, 8}};
  odd.dilate = {2, 1};
  for (ConvolutionProblem p : {first, by_channel, groups, odd}) {
    for (const Kind kind : {Kind::forward, Kind::data, Kind::weights}) {
      p.kind = kind;
      EXPECT_FALSE(enginesOf(p, {.forbidden_notes = kTensorCore}).empty()) << p.describe();
    }
  }
}

TEST_F(CudnnEngines, AWrongProblemIsAnErrorThatSaysWhy) {
  ConvolutionProblem wrong = layer();
  wrong.y[2] = 55;
  const auto engines = enginesFor(*api_, device_, wrong, {});
  ASSERT_FALSE(engines.has_value());
  EXPECT_THAT(engines.error().message, HasSubstr("cuDNN: "));
  auto none = deviceProperties(*api_, std::string("{}"));
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("cuDNN: the properties of a GPU failed"));
}

}  // namespace
}  // namespace pitwall::cuda::cudnn_engines_test
