// Kinds of operators, and operators of programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/backend/support/signature.h"
#include "tests/runtime/backend/harness.h"

namespace pitwall::operator_kind_test {
namespace {

// An operator that no backend knows.
struct MirrorDesc {
  static const OperatorKind kKind;
  int axis = 0;
  Result<Signature> infer(const ShapeQuery& query) const { return query.signature({query.shape(0)}); }
  friend bool operator==(const MirrorDesc&, const MirrorDesc&) = default;
};
constinit const OperatorKind MirrorDesc::kKind = OperatorKind::of<MirrorDesc>("Mirror");

TEST(OperatorKinds, AreFoundByName) {
  const auto kinds = operatorKinds();
  EXPECT_GE(kinds.size(), 12U);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(findOperatorKind(kinds[i]->name), kinds[i]);
    if (i > 0) {
      EXPECT_LT(std::strcmp(kinds[i - 1]->name, kinds[i]->name), 0) << "each name once";
    }
  }
  EXPECT_EQ(findOperatorKind("Convolution"), &ConvolutionDesc::kKind);
  EXPECT_EQ(findOperatorKind("LRN"), &LrnDesc::kKind);
  EXPECT_TRUE(findOperatorKind("Pooling")->keeps_workspace);
  EXPECT_FALSE(findOperatorKind("Activation")->keeps_workspace);
  for (const char* name : {"", "Mirror", "convolution", "ZZZ"})
    EXPECT_EQ(findOperatorKind(name), nullptr) << name;
}

TEST(OperatorKinds, ADescIsAValue) {
  const OperatorKindDesc relu = ActivationDesc{ActivationType::relu},
                         tanh = ActivationDesc{ActivationType::tanh};
  OperatorKindDesc one = relu;
  EXPECT_EQ(one, relu);
  EXPECT_NE(one, tanh);
  EXPECT_NE(one, OperatorKindDesc(LrnDesc{}));
  EXPECT_NE(one, OperatorKindDesc());
  EXPECT_EQ(OperatorKindDesc(), OperatorKindDesc());
  one = tanh;
  EXPECT_EQ(one.as<ActivationDesc>().type, ActivationType::tanh);
  EXPECT_TRUE(one.is<ActivationDesc>());
  EXPECT_FALSE(one.is<LrnDesc>());
  EXPECT_STREQ(one.kind().name, "Activation");
}

// Reorder's Desc owns something.
TEST(OperatorKinds, WhatADescOwnsIsFreed) {
  struct Blocked : Layout {
    Bytes sizeBytes() const override { return 64; }
    std::string toString() const override { return "aBcd16b"; }
    bool equals(const Layout& other) const override { return this == &other; }
  };
  const LayoutPtr layout = std::make_shared<Blocked>();
  const auto users = layout.use_count();
  {
    OperatorKindDesc a = ReorderDesc{layout};
    EXPECT_EQ(layout.use_count(), users + 1);
    OperatorKindDesc b = a;
    EXPECT_EQ(a, b);
    EXPECT_EQ(layout.use_count(), users + 2);
    b = ActivationDesc{};
    EXPECT_EQ(layout.use_count(), users + 1);
    b = a;
    b = *&b;
    EXPECT_EQ(layout.use_count(), users + 2);
    a = OperatorKindDesc();
    EXPECT_EQ(layout.use_count(), users + 1);
  }
  EXPECT_EQ(layout.use_count(), users);
}

TEST(OperatorKinds, WhatABackendLacksIsReportedByName) {
  const TensorSpec data[] = {{{2, 3}}};
  for (const char* name : {"reference", "onednn"}) {
    const auto prepared = test::open(name)->prepare(MirrorDesc{}, Pass::forward, data);
    ASSERT_FALSE(prepared.has_value());
    EXPECT_EQ(prepared.error().code, ErrorCode::unsupported);
    EXPECT_EQ(prepared.error().message,
              std::string("backend '") + name + "' has no kernel for Mirror forward(2x3)");
  }
  EXPECT_TRUE(test::open("null")->prepare(MirrorDesc{}, Pass::forward, data).has_value());
}

TEST(OperatorKindsDeathTest, TheDescOfAnotherOperatorIsABug) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const OperatorKindDesc relu = ActivationDesc{};
  EXPECT_DEATH((void)relu.as<LrnDesc>(), "Desc of another operator");
}

}  // namespace
}  // namespace pitwall::operator_kind_test
