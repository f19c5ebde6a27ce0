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

// Two steps of one element, in two layers of both directions. Layer 0 has weights of input and state for each direction, layer 1
// two of the input; then the biases, of input and state, in the same order.
TEST_F(RnnConformance, BothDirectionsOfTwoLayersByHand) {
  const double x[] = {0.5, -0.25}, state[] = {0.1, 0.2, -0.3, 0.4};
  const double w[] = {0.3, 0.7}, u[] = {-0.4, 0.6};                     // layer 0, by direction
  const double v[][2] = {{0.5, -0.2}, {0.9, 0.1}}, r[] = {-0.8, 0.25};  // layer 1
  const double bias[] = {0.05, -0.1, 0.15, 0.2};                        // of layer 0, then of layer 1
  const auto cell = [](double by_input, double weight, double before, double shift) {
    return std::tanh(by_input + weight * before + shift);
  };
  double ahead[2], back[2], out[2][2];  // by step; of the output also by direction
  ahead[0] = cell(w[0] * x[0], u[0], state[0], bias[0]);
  ahead[1] = cell(w[0] * x[1], u[0], ahead[0], bias[0]);
  back[1] = cell(w[1] * x[1], u[1], state[1], bias[1]);
  back[0] = cell(w[1] * x[0], u[1], back[1], bias[1]);
  const auto of = [&](int direction, int step) {
    return v[direction][0] * ahead[step] + v[direction][1] * back[step];
  };
  out[0][0] = cell(of(0, 0), r[0], state[2], bias[2]);
  out[1][0] = cell(of(0, 1), r[0], out[0][0], bias[2]);
  out[1][1] = cell(of(1, 1), r[1], state[3], bias[3]);
  out[0][1] = cell(of(1, 0), r[1], out[1][1], bias[3]);

  std::vector<float> parameters;
  const auto add = [&](std::initializer_list<double> values) {
    for (const double value : values) parameters.push_back(static_cast<float>(value));
  };
  for (const int d : {0, 1}) add({w[d], u[d]});
  for (const int d : {0, 1}) add({v[d][0], v[d][1], r[d]});
  for (const double shift : bias) add({shift - 1, 1});
  std::vector<float> states(std::begin(state), std::end(state));
  const Pair made =
      compare({.desc = RnnDesc{.type = RnnType::tanh, .bidirectional = true, .hidden = 1, .layers = 2},
               .inputs = {makeArray({2, 1, 1}, {0.5F, -0.25F}), makeArray({18}, parameters),
                          makeArray({4, 1, 1}, states)}});
  const double expected[] = {out[0][0], out[0][1], out[1][0], out[1][1]},
               last[] = {ahead[1], back[0], out[1][0], out[0][1]};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(made.onednn.outputs.at(0).floats()[i]), expected[i], 1e-6) << i;
    EXPECT_NEAR(static_cast<double>(made.onednn.outputs.at(1).floats()[i]), last[i], 1e-6) << i;
  }
}

// Values that no rounding changes.
void expectValues(Backend& backend, const Answer& answer, const std::vector<std::vector<float>>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(rowMajorValues(backend, answer.outputs.at(i)), expected[i]) << "output " << i;
}

// Two steps of one element: h1 = relu(2 x1 + 0.5 h0), h2 = relu(2 x2 + 0.5 h1).
TEST_F(RnnConformance, GradientOfReluByHand) {
  const RnnDesc desc{.type = RnnType::relu};
  const Array parameters = makeArray({4}, {2, 0.5F, 0, 0}), state = makeArray({1, 1, 1}, {4}),
              none = makeArray({1, 1, 1}, {0}), dout = makeArray({2, 1, 1}, {1, 8});
  const auto gradient = [&](const std::vector<float>& x) {
    Sequence s{{makeArray({2, 1, 1}, x), parameters, state}, {2, 1, 1}, {1, 1, 1}};
    const Pair out = compare({.desc = desc, .inputs = s.inputs});
    return compare(gradientCall(desc, s, out.reference, {dout, none}),
                   gradientCall(desc, s, out.onednn, {dout, none}));
  };
  // h1 = 4, h2 = 8. Of h2: 8; of h1: 1 + 0.5 * 8 = 5. Of the weight: 8 x2 + 5 x1; of the state's: 8 h1 + 5 h0.
  expectValues(*onednn_, gradient({1, 3}).onednn, {{10, 16}, {29, 52, 13, 13}, {2.5F}});
  // h1 = 4, and 2 x2 + 0.5 h1 = -4: the second step passes nothing on.
  expectValues(*onednn_, gradient({1, -3}).onednn, {{2, 0}, {1, 4, 1, 1}, {0.5F}});
}

// One step of an LSTM of which the cell alone has a gradient, 3: c = f c0 + i g, whose gates have the biases of each.
TEST_F(RnnConformance, GradientOfTheLastCellByHand) {
  const float x = 0.5F, h0 = -0.25F, c0 = 2, d = 3;
  const float b[] = {0.2F, -0.4F, 0.6F, 0.1F};  // input, forget, cell, output
  std::vector<float> parameters{1, 0, 2, 1, 0, 0, 0, 0, b[0], b[1], b[2], b[3], 0, 0, 0, 0};
  Sequence s{{makeArray({1, 1, 1}, {x}), makeArray({16}, parameters), makeArray({1, 1, 1}, {h0}),
              makeArray({1, 1, 1}, {c0})},
             {1, 1, 1},
             {1, 1, 1}};
  const Array none = makeArray({1, 1, 1}, {0}), dcell = makeArray({1, 1, 1}, {d});
  const Pair out = compare({.desc = RnnDesc{}, .inputs = s.inputs});
  const std::vector<Array> given{none, none, dcell};
  const Pair gradient = compare(gradientCall(RnnDesc{}, s, out.reference, given),
                                gradientCall(RnnDesc{}, s, out.onednn, given));
  const auto gate = [](float z) { return 1 / (1 + std::exp(-z)); };
  const float in = gate(x + b[0]), forget = gate(b[1]), fresh = std::tanh(2 * x + b[2]);
  const float by_in = d * fresh * in * (1 - in), by_forget = d * c0 * forget * (1 - forget),
              by_fresh = d * in * (1 - fresh * fresh);
  const std::vector<std::vector<float>> expected{
      {by_in + 2 * by_fresh},
      {by_in * x, by_forget * x, by_fresh * x, 0, by_in * h0, by_forget * h0, by_fresh * h0, 0, by_in,
       by_forget, by_fresh, 0, by_in, by_forget, by_fresh, 0},
      {0},
      {d * forget}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t j = 0; j < expected[i].size(); ++j)
      EXPECT_NEAR(gradient.onednn.outputs.at(i).floats()[j], expected[i][j], 1e-6F) << i << ", " << j;
  }
}

// Each element of the lower layer's output is dropped or scaled; without it nothing is drawn.
TEST_F(RnnConformance, DropoutBetweenLayers) {
  // Layer 1 has a weight for one direction's output each, and adds them: out = relu(8 values, each 0 or twice itself).
  const RnnDesc plain{.type = RnnType::relu, .hidden = 8, .layers = 2};
  RnnDesc drops = plain;
  drops.dropout = 0.5F;
  std::vector<float> parameters(static_cast<std::size_t>(plain.parameters(1)), 0.0F);
  for (std::size_t i = 0; i < 8; ++i) parameters[i] = 1;               // layer 0: h = relu(x)
  const std::size_t second = 8 + 64;                                   // after the weights of input and state
  for (std::size_t i = 0; i < 8; ++i) parameters[second + i * 9] = 1;  // layer 1: the same element
  const Array data = makeArray({50, 1, 1}, std::vector<float>(50, 1)), weights = makeArray({232}, parameters),
              state = makeArray({2, 1, 8}, std::vector<float>(16));
  const auto values = [&](const RnnDesc& desc, Pass pass, std::uint64_t seed) {
    const Pair out = compare({.desc = desc, .pass = pass, .inputs = {data, weights, state}, .seed = seed});
    return rowMajorValues(*onednn_, out.onednn.outputs.at(0));
  };
  const std::vector<float> dropped = values(drops, Pass::forward, 5);
  const auto zeros = std::count(dropped.begin(), dropped.end(), 0.0F),
             twos = std::count(dropped.begin(), dropped.end(), 2.0F);
  EXPECT_EQ(zeros + twos, 400);
  EXPECT_NEAR(static_cast<double>(zeros), 200, 40) << "half of 400";
  EXPECT_EQ(values(drops, Pass::forward, 5), dropped) << "the seed decides";
  EXPECT_NE(values(drops, Pass::forward, 6), dropped);
  EXPECT_EQ(values(drops, Pass::inference, 5), std::vector<float>(400, 1)) << "not in inference";
  EXPECT_THAT(
      failureOf(*reference_, RnnDesc{.dropout = 1}, Pass::forward, {{1, 1, 1}, {16}, {1, 1, 1}, {1, 1, 1}}),
      HasSubstr("dropout 1: must be in [0, 1)"));
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

class RnnGradient : public GradientCheck {
 protected:
  // Of all inputs, from that of the output alone.
  void expectGradients(const RnnDesc& desc) {
    const Sequence s = sequenceOf(desc, {3, 2, 2}, random_);
    const Call forward{.desc = desc, .inputs = s.inputs, .seed = 9};
    const Answer out = ask(*backend_, forward);
    const Array dout = random(s.out),
                none = makeArray(s.state, std::vector<float>(static_cast<std::size_t>(s.state.elements())));
    std::vector<Array> gradients{dout, none};
    if (desc.type == RnnType::lstm) gradients.push_back(none);
    const Call backward = gradientCall(desc, s, out, gradients);
    for (std::size_t i = 0; i < s.inputs.size(); ++i) expectGradient(forward, i, dout, backward, i);
  }
};

TEST_P(RnnGradient, OfTheKernel) {
  for (RnnDesc desc :
       {RnnDesc{.hidden = 2, .layers = 2}, RnnDesc{.bidirectional = true, .hidden = 2, .layers = 2}}) {
    for (const RnnType type : {RnnType::tanh, RnnType::lstm, RnnType::gru}) {
      desc.type = type;
      expectGradients(desc);
    }
  }
}

TEST_P(RnnGradient, OfTheKernelWithDropout) {
  for (const RnnType type : {RnnType::tanh, RnnType::lstm, RnnType::gru}) {
    expectGradients({.type = type, .bidirectional = true, .hidden = 2, .layers = 3, .dropout = 0.4F});
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
