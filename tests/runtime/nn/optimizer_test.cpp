#include "db/reader.h"
#include "tests/runtime/nn/nn_support.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::optimizer_test {
namespace {

// Reorders of a training of a convolution, whose weight is in blocks.
std::int64_t reordersOfUpdates(int steps) {
  const TempFolder folder;
  const std::string path = folder / "x.pitwall";
  {
    const auto session = must(Session::open({.trace_path = path, .backend = "onednn", .settings = {}}));
    nn::Sequential net;
    net.add(nn::Conv2D("conv", {.channels = 32, .kernel = {3, 3}})).add(nn::Dense("dense", {.units = 4}));
    nn::SoftmaxCrossEntropy loss_function;
    Sgd optimizer(net.parameters(), {.rate = 0.1F, .momentum = 0.9F});
    const NDArray data = arrayOf(*session, {4, 16, 12, 12}, 1, 0, 1);
    const NDArray label = NDArray::fromValues(*session, {4}, std::vector<float>{0, 3, 1, 2});
    for (int step = 0; step < steps; ++step) {
      const NDArray loss =
          must(autograd::record([&] { return loss_function.forward(must(net.forward(data)), label); }));
      must(autograd::backward(loss));
      must(optimizer.step(4));
    }
    must(session->finish());
  }
  const auto rows = must(must(Trace::open(path))
                             ->query("SELECT count(*) FROM event e JOIN operator o ON o.id = e.operator "
                                     "WHERE o.name = 'Reorder' AND o.phase = 'update'"));
  return std::get<std::int64_t>(rows.rows[0][0]);
}

// Once for the momentum.
TEST(Optimizer, UpdatesTakeWeightsInTheirLayout) { EXPECT_EQ(reordersOfUpdates(6), reordersOfUpdates(2)); }

}  // namespace
}  // namespace pitwall::test::optimizer_test
