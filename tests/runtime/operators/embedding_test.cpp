#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::embedding_test {
namespace {

using testing::HasSubstr;

class Embedding : public ConformanceCheck {
 protected:
  Array indices(const Shape& shape, std::int64_t vocabulary) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      values.push_back(static_cast<float>(random_() % static_cast<unsigned>(vocabulary)));
    return makeArray(shape, values);
  }
};

TEST_F(Embedding, BackendsAgree) {
  const std::pair<Shape, EmbeddingDesc> cases[] = {
      {{1}, {1, 1}}, {{5, 7}, {11, 3}}, {{32, 35}, {100, 65}}, {{2, 3}, {700, 400}}};
  for (const auto& [shape, desc] : cases) {
    const Array which = indices(shape, desc.vocabulary);
    const Pair out = compare({.desc = desc, .inputs = {which, random({desc.vocabulary, desc.width})}}, 0);
    if (!out.onednn.kernel) continue;
    compare({.desc = desc,
             .pass = Pass::backward,
             .inputs = {which, random(out.reference.outputs[0].spec.shape)}});
  }
}

TEST_F(Embedding, ByHand) {
  const EmbeddingDesc desc{3, 2};
  const Array which = makeArray({3}, {2, 0, 2}), weight = makeArray({3, 2}, {1, 2, 3, 4, 5, 6});
  const Pair out = compare({.desc = desc, .inputs = {which, weight}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)), (std::vector<float>{5, 6, 1, 2, 5, 6}));
  const Pair gradient =
      compare({.desc = desc, .pass = Pass::backward, .inputs = {which, out.reference.outputs[0]}});
  EXPECT_EQ(rowMajorValues(*reference_, gradient.reference.outputs.at(0)),
            (std::vector<float>{1, 2, 0, 0, 10, 12}));
}

TEST_F(Embedding, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, EmbeddingDesc{3, 2}, Pass::forward, {{4}, {2, 3}}),
              HasSubstr("Embedding forward(4, 2x3): weight has shape 2x3, must be 3x2"));
  EXPECT_THAT(failureOf(*reference_, EmbeddingDesc{0, 2}, Pass::forward, {{4}, {2, 3}}),
              HasSubstr("vocabulary 0"));
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    const TensorSpec specs[] = {{{2}}, {{3, 2}}};
    const KernelPtr kernel = backend->prepare(EmbeddingDesc{3, 2}, Pass::inference, specs).value();
    const Array which = makeArray({2}, {0, 3}), weight = random({3, 2}),
                out = makeArray(kernel->outputs()[0]);
    const void* from[] = {which.bytes.get(), weight.bytes.get()};
    void* to[] = {out.bytes.get()};
    const auto workspace = makeWorkspace(*kernel);
    const Status status =
        kernel->run({.inputs = from, .outputs = to, .context = {.workspace = workspace.get()}});
    ASSERT_FALSE(status.has_value());
    EXPECT_THAT(status.error().message,
                HasSubstr("Embedding: index 1 is 3, must be a whole number from 0 to 2"));
  }
}

class EmbeddingGradient : public GradientCheck {};

TEST_P(EmbeddingGradient, OfTheKernel) {
  const EmbeddingDesc desc{4, 3};
  const Array which = makeArray({2, 2}, {3, 0, 3, 1}), weight = random({4, 3}), dout = random({2, 2, 3});
  expectGradient({.desc = desc, .inputs = {which, weight}}, 1, dout,
                 {.desc = desc, .pass = Pass::backward, .inputs = {which, dout}});
}

TEST_P(EmbeddingGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  const NDArray which = NDArray::fromValues(*session, {3}, std::vector<float>{1, 0, 1});
  checkGradients(*session, {"embedding", {{2, 3}}, [&](Arrays& a) { return op::embedding(which, a[0]); }});
}

INSTANTIATE_TEST_SUITE_P(Backends, EmbeddingGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::embedding_test
