// A run of a kernel allocates nothing: what it needs besides its arrays is the workspace that the caller gives it.
#include <gtest/gtest.h>

#include "tests/runtime/backend/harness.h"
#include "tests/support/counted_allocations.h"

namespace pitwall::test::kernel_allocation_test {
namespace {

// Of the second run, on one thread. Workspaces that the kernel reads are made by its forward pass.
std::int64_t allocationsOf(Backend& backend, const Call& call) {
  std::vector<TensorSpec> specs;
  std::vector<const void*> from;
  for (const Array& array : call.inputs) {
    specs.push_back(array.spec);
    from.push_back(array.bytes.get());
  }
  const KernelPtr kernel = backend.prepare(call.desc, call.pass, specs).value();
  std::vector<Array> outputs;
  std::vector<void*> to;
  for (const TensorSpec& spec : kernel->outputs()) {
    outputs.push_back(makeArray(spec));
    to.push_back(outputs.back().bytes.get());
  }
  const Array workspace = makeArray(TensorSpec{{kernel->workspaceBytes()}, DType::uint8, nullptr});
  const KernelArgs args{.inputs = from, .outputs = to, .context = {.workspace = workspace.bytes.get()}};
  EXPECT_TRUE(kernel->run(args).has_value());
  const std::int64_t before = countedAllocations();
  EXPECT_TRUE(kernel->run(args).has_value());
  return countedAllocations() - before;
}

class KernelAllocation : public testing::Test {
 protected:
  Array random(const Shape& shape) { return randomArray(shape, random_); }
  std::unique_ptr<Backend> backend_ = open("onednn");
  std::mt19937 random_{1};
};

TEST_F(KernelAllocation, NoneInReductions) {
  for (const ReduceType type : {ReduceType::sum, ReduceType::maximum})
    for (const unsigned axes : {1U, 2U, 3U})
      EXPECT_EQ(allocationsOf(*backend_, {.desc = ReduceDesc{type, static_cast<std::uint8_t>(axes)},
                                          .inputs = {random({40, 50})}}),
                0);
}

TEST_F(KernelAllocation, NoneInGradientsOfRepeatedOperands) {
  for (const BinaryType type : {BinaryType::add, BinaryType::divide}) {
    const Call call{.desc = BinaryDesc{type},
                    .pass = Pass::backward,
                    .inputs = {random({8, 9}), random({9}), random({8, 9})}};
    EXPECT_EQ(allocationsOf(*backend_, call), 0);
  }
}

TEST_F(KernelAllocation, NoneInRecurrentNetworks) {
  for (const RnnType type : {RnnType::tanh, RnnType::lstm, RnnType::gru}) {
    const RnnDesc desc{.type = type, .bidirectional = true, .hidden = 4, .layers = 2};
    const Shape state{4, 2, 4};
    std::vector<Array> inputs{random({5, 2, 3}), random({desc.parameters(3)}), random(state)};
    if (type == RnnType::lstm) inputs.push_back(random(state));
    EXPECT_EQ(allocationsOf(*backend_, {.desc = desc, .pass = Pass::inference, .inputs = inputs}), 0);
    EXPECT_EQ(allocationsOf(*backend_, {.desc = desc, .inputs = inputs}), 0);
    const Answer out = ask(*backend_, {.desc = desc, .inputs = inputs});
    Call backward{.desc = desc, .pass = Pass::backward, .inputs = inputs};
    backward.inputs.push_back(out.outputs.at(0));
    backward.inputs.push_back(random({5, 2, 8}));
    for (std::size_t i = 2; i < inputs.size(); ++i) backward.inputs.push_back(random(state));
    backward.inputs.push_back(out.outputs.back());
    EXPECT_EQ(allocationsOf(*backend_, backward), 0);
  }
}

}  // namespace
}  // namespace pitwall::test::kernel_allocation_test
