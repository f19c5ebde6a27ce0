#include "tests/runtime/operators/update_check.h"

namespace pitwall::test::adam_test {
namespace {

class AdamKernel : public UpdateCheck {};

TEST_F(AdamKernel, BackendsAgree) {
  check(AdamDesc{.weight_decay = 0.01F, .multi_precision = true}, 2, true);
  check(AdamDesc{}, 2);
  check(AdamDesc{.beta1 = 0.5F, .beta2 = 0.75F, .epsilon = 1e-3F, .weight_decay = 0.01F}, 2);
}

TEST_F(AdamKernel, ByHand) {
  const auto [weight, mean, variance] =
      updated(AdamDesc{.beta1 = 0.5F, .beta2 = 0.75F, .epsilon = 0.1F, .weight_decay = 0.1F},
              {.weight = 2, .states = {1, 4}}, 2);
  // g = 0.25 * 4 + 0.1 * 2
  EXPECT_NEAR(mean, 0.5F * 1 + 0.5F * 1.2F, 1e-6F);
  EXPECT_NEAR(variance, 0.75F * 4 + 0.25F * 1.44F, 1e-5F);
  EXPECT_NEAR(weight, 2 - 0.1F * 1.1F / (std::sqrt(3.36F) + 0.1F), 1e-6F);
}

TEST_F(AdamKernel, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, AdamDesc{.epsilon = 0}, Pass::forward, {{2}}),
              testing::HasSubstr("epsilon 0: must be greater than 0"));
  EXPECT_THAT(failureOf(*reference_, AdamDesc{}, Pass::forward, {}),
              testing::HasSubstr("at least one gradient"));
}

TEST_F(AdamKernel, ACallNeedsBothStates) {
  const auto session = openSession("reference");
  NDArray weight = NDArray::zeros(*session, {2});
  weight.attachGradient();
  const op::AdamItem items[] = {{weight, NDArray::zeros(*session, {2}), NDArray::zeros(*session, {3})}};
  const Status done = op::adamUpdate(items, {}, {});
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().message,
              testing::HasSubstr("adam_update: the variance of a weight of shape 2 is of shape 3"));
}

}  // namespace
}  // namespace pitwall::test::adam_test
