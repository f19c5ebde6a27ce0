#include "tests/runtime/operators/update_check.h"

namespace pitwall::test::nag_test {
namespace {

class NagKernel : public UpdateCheck {};

TEST_F(NagKernel, BackendsAgree) {
  check(NagDesc{.weight_decay = 0.01F, .multi_precision = true}, 1, true);
  check(NagDesc{}, 1);
  check(NagDesc{.momentum = 0.5F, .weight_decay = 0.01F}, 1);
}

// v = momentum * v - rate * g; weight += momentum * v - rate * g.
TEST_F(NagKernel, ByHand) {
  const auto [weight, momentum, unused] =
      updated(NagDesc{.momentum = 0.5F, .weight_decay = 0.1F}, {.weight = 2, .states = {1, 0}}, 1);
  // g = 0.25 * 4 + 0.1 * 2
  EXPECT_NEAR(momentum, 0.5F - 0.1F * 1.2F, 1e-6F);
  EXPECT_NEAR(weight, 2 + 0.5F * 0.38F - 0.12F, 1e-6F);
}

TEST_F(NagKernel, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, NagDesc{}, Pass::forward, {}),
              testing::HasSubstr("at least one gradient"));
  EXPECT_THAT(failureOf(*reference_, NagDesc{}, Pass::backward, {{2}}), testing::HasSubstr("no such pass"));
}

TEST_F(NagKernel, ACallNeedsMomenta) {
  const auto session = openSession("reference");
  NDArray weight = NDArray::zeros(*session, {2});
  weight.attachGradient();
  const op::SgdItem items[] = {{weight, {}}};
  const Status done = op::nagUpdate(items, {}, {});
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().message,
              testing::HasSubstr("nag_mom_update: the momentum of a weight of shape 2 is missing"));
}

}  // namespace
}  // namespace pitwall::test::nag_test
