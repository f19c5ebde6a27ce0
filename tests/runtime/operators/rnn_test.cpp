#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::rnn_test {
namespace {

using testing::HasSubstr;

constexpr RnnType kTypes[] = {RnnType::relu, RnnType::tanh, RnnType::lstm, RnnType::gru};

struct Sequence {
  std::vector<Array> inputs;  // data, parameters, state, [cell]
  Shape out, state;
};

Sequence sequenceOf(const RnnDesc& d, const Shape& data, std::mt19937& random) {
  const std::int64_t directions = d.bidirectional ? 2 : 1;
  Sequence s{{}, {data[0], data[1], directions * d.hidden}, {d.layers * directions, data[1], d.hidden}};
  s.inputs = {randomArray(data, random), randomArray({d.parameters(data[2])}, random),
              randomArray(s.state, random)};
  if (d.type == RnnType::lstm) s.inputs.push_back(randomArray(s.state, random));
  return s;
}

// The backward pass for these gradients of the outputs.
Call gradientCall(const RnnDesc& d, const Sequence& s, const Answer& out,
                  const std::vector<Array>& gradients) {
  Call call{.desc = d, .pass = Pass::backward, .inputs = s.inputs};
  call.inputs.push_back(out.outputs.at(0));
  call.inputs.insert(call.inputs.end(), gradients.begin(), gradients.end());
  call.inputs.push_back(out.outputs.back());
  return call;
}

class RnnConformance : public ConformanceCheck {};

TEST_F(RnnConformance, BackendsAgree) {
  const std::pair<Shape, RnnDesc> cases[] = {{{1, 1, 1}, {}},
                                             {{5, 3, 7}, {.hidden = 4, .layers = 2}},
                                             {{4, 2, 3}, {.bidirectional = true, .hidden = 5, .layers = 3}}};
  for (auto [data, desc] : cases) {
    for (const RnnType type : kTypes) {
      desc.type = type;
      const Sequence s = sequenceOf(desc, data, random_);
      compare({.desc = desc, .pass = Pass::inference, .inputs = s.inputs});
      const Pair out = compare({.desc = desc, .inputs = s.inputs});
      if (!out.onednn.kernel) continue;
      std::vector<Array> gradients{random(s.out), random(s.state)};
      if (type == RnnType::lstm) gradients.push_back(random(s.state));
      compare(gradientCall(desc, s, out.reference, gradients), gradientCall(desc, s, out.onednn, gradients),
              1e-4);
    }
  }
}

// One step of one element; all weights 1 or 2, biases 0.
TEST_F(RnnConformance, ByHand) {
  const Array data = makeArray({1, 1, 1}, {0.5F}), state = makeArray({1, 1, 1}, {0.25F}),
              cell = makeArray({1, 1, 1}, {2});
  std::vector<float> weights(
      16, 0);  // of the input: input 1, forget 0, cell 2, output 1; of the state: 0; biases 0
  weights[0] = 1, weights[2] = 2, weights[3] = 1;
  const Pair lstm = compare({.desc = RnnDesc{}, .inputs = {data, makeArray({16}, weights), state, cell}});
  const float in = 1 / (1 + std::exp(-0.5F)), expected_cell = 0.5F * 2 + in * std::tanh(1.0F);
  EXPECT_NEAR(lstm.reference.outputs.at(2).floats()[0], expected_cell, 1e-6F);
  EXPECT_NEAR(lstm.reference.outputs.at(0).floats()[0], in * std::tanh(expected_cell), 1e-6F);
  EXPECT_EQ(lstm.reference.outputs.at(1).floats()[0], lstm.reference.outputs.at(0).floats()[0]);

  // Input: reset 0, update 0, new 1; state: new 2; the state's bias of new: 1.
  std::vector<float> gru(12, 0);
  gru[2] = 1, gru[5] = 2, gru[11] = 1;
  const Pair out =
      compare({.desc = RnnDesc{.type = RnnType::gru}, .inputs = {data, makeArray({12}, gru), state}});
  const float fresh = std::tanh(0.5F + 0.5F * (2 * 0.25F + 1));
  EXPECT_NEAR(out.reference.outputs.at(0).floats()[0], 0.5F * fresh + 0.5F * 0.25F, 1e-6F)
      << "the reset gate is applied after the product with the state";
}

TEST_F(RnnConformance, MistakesAreMessages) {
  Backend& backend = *reference_;
  const RnnDesc desc{.type = RnnType::tanh, .hidden = 2};
  EXPECT_THAT(failureOf(backend, desc, Pass::forward, {{5, 3, 4}, {15}, {1, 3, 2}}),
              HasSubstr("RNN forward(5x3x4, 15, 1x3x2): parameters has shape 15, must be 16"));
  EXPECT_THAT(failureOf(backend, desc, Pass::forward, {{5, 3, 4}, {16}, {1, 2, 2}}),
              HasSubstr("state has shape 1x2x2"));
  EXPECT_THAT(failureOf(backend, desc, Pass::forward, {{3, 4}, {16}, {1, 2, 2}}),
              HasSubstr("data must have 3 axes"));
  EXPECT_THAT(failureOf(backend, RnnDesc{}, Pass::forward, {{3, 4}, {16}, {1, 2, 2}}),
              HasSubstr("takes 4 arrays, 3 given"));
  EXPECT_THAT(
      failureOf(backend, RnnDesc{.layers = 0}, Pass::forward, {{1, 1, 1}, {16}, {1, 1, 1}, {1, 1, 1}}),
      HasSubstr("1 hidden in 0 layers"));
}

class RnnGradient : public GradientCheck {};

TEST_P(RnnGradient, OfTheKernel) {
  for (RnnDesc desc :
       {RnnDesc{.hidden = 2, .layers = 2}, RnnDesc{.bidirectional = true, .hidden = 2, .layers = 2}}) {
    for (const RnnType type : {RnnType::tanh, RnnType::lstm, RnnType::gru}) {
      desc.type = type;
      const Sequence s = sequenceOf(desc, {3, 2, 2}, random_);
      const Call forward{.desc = desc, .inputs = s.inputs};
      const Answer out = ask(*backend_, forward);
      const Array dout = random(s.out),
                  none = makeArray(s.state, std::vector<float>(static_cast<std::size_t>(s.state.elements())));
      std::vector<Array> gradients{dout, none};
      if (type == RnnType::lstm) gradients.push_back(none);
      const Call backward = gradientCall(desc, s, out, gradients);
      for (std::size_t i = 0; i < s.inputs.size(); ++i) expectGradient(forward, i, dout, backward, i);
    }
  }
}

// A gradient of the final states is that of the last step's output, and of the cell that is kept.
TEST_P(RnnGradient, OfTheFinalStates) {
  for (const RnnType type : {RnnType::tanh, RnnType::lstm, RnnType::gru}) {
    const RnnDesc desc{.type = type, .hidden = 2};
    const Sequence s = sequenceOf(desc, {2, 1, 2}, random_);
    const Answer out = ask(*backend_, {.desc = desc, .inputs = s.inputs});
    const Array some = random(s.state), none = makeArray(s.state, {0, 0});
    const Array dout = makeArray(s.out, {0, 0, some.floats()[0], some.floats()[1]}),
                nothing = makeArray(s.out, {0, 0, 0, 0});
    std::vector<Array> by_output{dout, none}, by_state{nothing, some};
    if (type == RnnType::lstm) by_output.push_back(none), by_state.push_back(none);
    const Answer a = ask(*backend_, gradientCall(desc, s, out, by_output)),
                 b = ask(*backend_, gradientCall(desc, s, out, by_state));
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      EXPECT_EQ(rowMajorValues(*backend_, a.outputs.at(i)), rowMajorValues(*backend_, b.outputs.at(i))) << i;
  }
}

TEST_P(RnnGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  const RnnDesc lstm{.hidden = 2}, gru{.type = RnnType::gru, .hidden = 2};
  checkGradients(
      *session,
      {"lstm", {{3, 2, 2}, {lstm.parameters(2)}, {1, 2, 2}, {1, 2, 2}}, [&](Arrays& a) -> Result<NDArray> {
         return must(op::rnn(a[0], a[1], a[2], a[3], lstm)).out;
       }});
  checkGradients(*session,
                 {"gru", {{3, 2, 2}, {gru.parameters(2)}, {1, 2, 2}}, [&](Arrays& a) -> Result<NDArray> {
                    return must(op::rnn(a[0], a[1], a[2], {}, gru)).out;
                  }});
}

INSTANTIATE_TEST_SUITE_P(Backends, RnnGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::rnn_test
