// The contract of Backend besides correct results: cache bounds, threads, errors, names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/backend/support/caching_backend.h"
#include "tests/runtime/backend/harness.h"

namespace pitwall::backend_contract_test {
namespace {

using test::Array;
using test::ask;
using test::rowMajorValues;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string failureOf(Backend& backend, const OperatorKindDesc& desc, Pass pass,
                      std::vector<TensorSpec> inputs, const TensorSpec* like = nullptr) {
  const auto prepared = backend.prepare(desc, pass, inputs, like);
  return prepared.has_value() ? "" : prepared.error().message;
}

KernelPtr relu(Backend& backend, std::int64_t elements) {
  const TensorSpec specs[] = {{{elements}}};
  return backend.prepare(ActivationDesc{}, Pass::forward, specs).value();
}

TEST(Registry, NamesTheChoices) {
  EXPECT_THAT(backendNames(), ::testing::ElementsAre("onednn", "reference", "null"));
  const auto settings = Settings::fromValues({});
  const auto none = openBackend("cudnn", *settings);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::notFound);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("cudnn"), HasSubstr("onednn, reference, null")));
}

class EveryBackend : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryBackend, KeepsAsManyKernelsAsItMay) {
  const auto backend = test::open(GetParam(), 3);
  EXPECT_EQ(backend->name(), GetParam());
  const KernelPtr first = relu(*backend, 1);
  for (const int n : {2, 3}) relu(*backend, n);
  EXPECT_EQ(relu(*backend, 1), first);  // a hit, and the most recently used now
  relu(*backend, 4);                    // evicts 2
  EXPECT_EQ(relu(*backend, 1), first);
  auto usage = backend->cacheUsage();
  EXPECT_EQ(usage.kernels, 3);
  EXPECT_EQ(usage.hits, 2);
  EXPECT_EQ(usage.misses, 4);
  EXPECT_EQ(usage.evictions, 1);
  relu(*backend, 2);
  EXPECT_EQ(backend->cacheUsage().misses, 5);

  // The bound applies to each operator kind separately.
  const TensorSpec specs[] = {{{1, 1, 2, 2}}};
  ASSERT_TRUE(backend->prepare(PoolingDesc{}, Pass::inference, specs).has_value());
  usage = backend->cacheUsage();
  EXPECT_EQ(usage.kernels, 4);
  EXPECT_EQ(usage.evictions, 2);
}

TEST_P(EveryBackend, KeepsNothingOrEverything) {
  const auto nothing = test::open(GetParam(), 0), everything = test::open(GetParam(), -1);
  for (int round = 0; round < 2; ++round) {
    for (int n = 1; n <= 50; ++n) relu(*nothing, n), relu(*everything, n);
  }
  EXPECT_EQ(nothing->cacheUsage().kernels, 0);
  EXPECT_EQ(nothing->cacheUsage().misses, 100);
  EXPECT_EQ(everything->cacheUsage().kernels, 50);
  EXPECT_EQ(everything->cacheUsage().hits, 50);
}

TEST_P(EveryBackend, TellsQuestionsApart) {
  const auto backend = test::open(GetParam());
  const TensorSpec specs[] = {{{2, 4, 6, 6}}};
  std::vector<KernelPtr> kernels;
  for (const Pass pass : {Pass::inference, Pass::forward}) {
    for (const PoolingType type : {PoolingType::max, PoolingType::average}) {
      for (const std::int64_t stride : {1, 2}) {
        kernels.push_back(
            backend->prepare(PoolingDesc{.type = type, .stride = {stride, 2}}, pass, specs).value());
      }
    }
  }
  EXPECT_EQ(backend->cacheUsage().misses, 8);
  EXPECT_EQ(backend->cacheUsage().kernels, 8);
}

TEST_P(EveryBackend, ErrorsNameOperatorAndShapes) {
  const auto backend = test::open(GetParam());
  const ConvolutionDesc conv{.kernel = {5, 5}, .channels = 20};
  const TensorSpec data{{64, 1, 28, 28}}, weight{{20, 1, 5, 5}}, bias{{20}};
  EXPECT_THAT(failureOf(*backend, conv, Pass::forward, {data, {{20, 2, 5, 5}}, bias}),
              AllOf(HasSubstr("Convolution forward"), HasSubstr("20x2x5x5"), HasSubstr("20x1x5x5")));
  EXPECT_THAT(failureOf(*backend, conv, Pass::forward, {data, weight}), HasSubstr("takes 3 arrays, 2 given"));
  EXPECT_THAT(failureOf(*backend, conv, Pass::forward, {{{64, 1, 4, 4}}, weight, bias}),
              AllOf(HasSubstr("64x1x4x4"), HasSubstr("does not fit")));
  EXPECT_THAT(failureOf(*backend, conv, Pass::backward, {data, weight}), HasSubstr("no such pass"));
  EXPECT_THAT(failureOf(*backend, conv, Pass::backwardData, {{{64, 20, 24, 24}}, weight}), HasSubstr("like"));
  EXPECT_THAT(
      failureOf(*backend, ConvolutionDesc{.channels = 3, .groups = 2}, Pass::forward, {data, weight, bias}),
      HasSubstr("groups"));
  EXPECT_THAT(failureOf(*backend, FullyConnectedDesc{10}, Pass::forward, {{{64, 512}}, {{10, 500}}, {{10}}}),
              AllOf(HasSubstr("FullyConnected forward"), HasSubstr("64x512"), HasSubstr("10x512")));
  EXPECT_THAT(failureOf(*backend, PoolingDesc{.pad = {2, 2}}, Pass::inference, {data}), HasSubstr("Pooling"));
  EXPECT_THAT(failureOf(*backend, LrnDesc{.nsize = 4}, Pass::inference, {data}),
              AllOf(HasSubstr("LRN inference(64x1x28x28)"), HasSubstr("nsize 4")));
  EXPECT_THAT(failureOf(*backend, BinaryDesc{}, Pass::forward, {{{2, 3}}, {{3, 2}}}),
              AllOf(HasSubstr("Binary"), HasSubstr("2x3"), HasSubstr("3x2")));
  EXPECT_THAT(failureOf(*backend, DropoutDesc{1}, Pass::forward, {data}), HasSubstr("rate 1"));
  EXPECT_THAT(failureOf(*backend, BatchNormDesc{}, Pass::forward, {data, {{2}}, {{1}}}), HasSubstr("gamma"));
  EXPECT_THAT(failureOf(*backend, SoftmaxCrossEntropyDesc{}, Pass::forward, {{{4, 10}}, {{5}}}),
              HasSubstr("label"));
  EXPECT_THAT(failureOf(*backend, SgdDesc{}, Pass::forward, {}), HasSubstr("at least one gradient"));
  EXPECT_THAT(failureOf(*backend, LinearDesc{}, Pass::forward, {{{2, 3}, DType::int8}}), HasSubstr("int8"));
  EXPECT_THAT(failureOf(*backend, LinearDesc{}, Pass::forward, {{{0, 3}}}), HasSubstr("empty"));
  EXPECT_EQ(backend->cacheUsage().kernels, 0) << "failures are not kept";
}

TEST_P(EveryBackend, KnowsEveryOperator) {
  const auto backend = test::open(GetParam());
  EXPECT_EQ(failureOf(*backend, LrnDesc{}, Pass::forward, {{{2, 8, 4, 4}}}), "");
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, ::testing::Values("onednn", "reference", "null"),
                         [](const auto& backend) { return std::string(backend.param); });

// A backend of which only the name exists.
class Empty final : public CachingBackend {
 public:
  Empty() : CachingBackend({}) {}
  std::string_view name() const override { return "empty"; }

 private:
  Result<KernelPtr> create(const OperatorKindDesc&, Pass, std::span<const TensorSpec>,
                           const TensorSpec*) override {
    return KernelPtr();
  }
};

TEST(MissingKernel, IsReportedByName) {
  Empty backend;
  const TensorSpec data[] = {{{2, 8, 4, 4}}};
  const auto prepared = backend.prepare(LrnDesc{}, Pass::inference, data, nullptr);
  ASSERT_FALSE(prepared.has_value());
  EXPECT_EQ(prepared.error().code, ErrorCode::unsupported);
  EXPECT_EQ(prepared.error().message, "backend 'empty' has no kernel for LRN inference(2x8x4x4)");
}

// One kernel, several threads at once, each with its own arrays: the same bits as alone.
TEST(Threads, RunOneKernelAtOnce) {
  const auto backend = test::open("onednn");
  std::mt19937 random(3);
  const ConvolutionDesc conv{.kernel = {5, 5}, .channels = 50};
  const Array data = test::randomArray({4, 20, 12, 12}, random),
              weight = test::randomArray({50, 20, 5, 5}, random);
  const Array bias = test::randomArray({50}, random), dout = test::randomArray({4, 50, 8, 8}, random);
  const test::Call calls[] = {
      {.desc = conv, .inputs = {data, weight, bias}},
      {.desc = conv, .pass = Pass::backwardWeights, .inputs = {data, dout}},
      {.desc = SoftmaxCrossEntropyDesc{},
       .inputs = {test::randomArray({64, 10}, random), test::makeArray({64}, std::vector<float>(64, 3))}},
  };
  for (const test::Call& call : calls) {
    const auto expected = rowMajorValues(*backend, ask(*backend, call).outputs.at(0));
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          EXPECT_EQ(rowMajorValues(*backend, ask(*backend, call).outputs.at(0)), expected) << call.toString();
        }
      });
    }
  }
}

TEST(Threads, PrepareTheSameAtOnce) {
  const auto backend = test::open("onednn", 4);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(relu(*backend, 1 + i % 8)->inputs()[0].shape[0], 1 + i % 8);
    });
  }
  threads.clear();
  const auto usage = backend->cacheUsage();
  EXPECT_EQ(usage.kernels, 4);
  EXPECT_EQ(usage.hits + usage.misses, 800);
}

TEST(Dropout, DrawsByTheSeedAlone) {
  const auto backend = test::open("onednn");
  const std::int64_t n = 400'000;  // enough to be shared by threads
  const Array data = test::makeArray({n}, std::vector<float>(static_cast<std::size_t>(n), 1));
  const auto draw = [&](std::uint64_t seed) {
    return rowMajorValues(
        *backend, ask(*backend, {.desc = DropoutDesc{0.25F}, .inputs = {data}, .seed = seed}).outputs.at(0));
  };
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = draw(1);
  omp_set_num_threads(4);
  EXPECT_EQ(draw(1), alone);
  omp_set_num_threads(threads);
  const auto other = draw(2);
  std::int64_t kept = 0, both = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    ASSERT_TRUE(alone[i] == 0 || alone[i] == 1 / 0.75F);
    kept += alone[i] != 0;
    both += alone[i] != 0 && other[i] != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(n), 0.75, 0.004);         // 6 sigma
  EXPECT_NEAR(static_cast<double>(both) / static_cast<double>(n), 0.75 * 0.75, 0.005);  // independent
}

TEST(SoftmaxCrossEntropy, RefusesLabelsThatAreNoClass) {
  for (const char* name : {"onednn", "reference"}) {
    const auto backend = test::open(name);
    const TensorSpec specs[] = {{{2, 3}}, {{2}}};
    const KernelPtr kernel = backend->prepare(SoftmaxCrossEntropyDesc{}, Pass::forward, specs).value();
    const Array scores = test::makeArray({2, 3}, std::vector<float>(6, 0)),
                loss = test::makeArray(TensorSpec{{2}});
    const Array probability = test::makeArray(TensorSpec{{2, 3}});
    for (const float label : {3.0F, -1.0F, 0.5F, NAN}) {
      const Array labels = test::makeArray({2}, {0, label});
      const void* from[] = {scores.bytes.get(), labels.bytes.get()};
      void* to[] = {loss.bytes.get(), probability.bytes.get()};
      const Status status = kernel->run({.inputs = from, .outputs = to});
      ASSERT_FALSE(status.has_value()) << name << " " << label;
      EXPECT_EQ(status.error().code, ErrorCode::invalidInput);
      EXPECT_THAT(status.error().message, AllOf(HasSubstr("sample 1"), HasSubstr("0 to 2")));
    }
  }
}

TEST(Pooling, RefusesTheWorkspaceOfAnother) {
  for (const char* name : {"onednn", "reference"}) {
    const auto backend = test::open(name);
    const TensorSpec data{{2, 3, 8, 8}}, out{{2, 3, 4, 4}}, workspace{{5}, DType::uint8};
    EXPECT_THAT(failureOf(*backend, PoolingDesc{}, Pass::backward, {data, out, out, workspace}),
                AllOf(HasSubstr("Pooling backward"), HasSubstr("workspace")));
  }
}

TEST(Null, HasTheShapesAndTouchesNothing) {
  const auto null = test::open("null"), reference = test::open("reference");
  const ConvolutionDesc conv{.kernel = {3, 3}, .pad = {1, 1}, .channels = 5};
  const std::vector<TensorSpec> inputs{{{2, 3, 8, 8}}, {{5, 3, 3, 3}}, {{5}}};
  const KernelPtr a = null->prepare(conv, Pass::forward, inputs).value();
  const KernelPtr b = reference->prepare(conv, Pass::forward, inputs).value();
  EXPECT_EQ(a->outputs(), b->outputs());
  const Array out = test::makeArray(a->outputs()[0]);
  void* to[] = {out.bytes.get()};
  const void* from[] = {nullptr, nullptr, nullptr};
  EXPECT_TRUE(a->run({.inputs = from, .outputs = to}).has_value());
  EXPECT_TRUE(std::isnan(out.floats()[0]));
  EXPECT_EQ(a->implementation(), "null");
}

}  // namespace
}  // namespace pitwall::backend_contract_test
