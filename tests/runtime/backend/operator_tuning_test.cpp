// From how many elements on operators use several threads, with measurements that the tests choose.
#include "runtime/backend/support/operator_tuning.h"

#include <gmock/gmock.h>
#include <omp.h>

#include <limits>
#include <random>

#include "runtime/backend/onednn/backend.h"
#include "tests/runtime/backend/harness.h"

namespace pitwall::test::operator_tuning_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OperatorTuning, SeveralThreadsPayWhereTheySaveMoreThanTheirStart) {
  // 2 threads save half: 1000 ns for the start are 2000 elements of 1 ns.
  EXPECT_EQ(parallelFrom(1000, 1, 2), 2001);
  EXPECT_EQ(parallelFrom(1000, 10, 2), 201);
  EXPECT_EQ(parallelFrom(900, 1, 10), 1001);
  EXPECT_EQ(parallelFrom(0, 1, 2), 1);
  EXPECT_EQ(parallelFrom(1000, 1, 1), std::numeric_limits<std::int64_t>::max());
}

// At least two threads, whatever the machine.
class TwoThreads : public testing::Test {
 protected:
  TwoThreads() { omp_set_num_threads(2); }
  ~TwoThreads() override { omp_set_num_threads(before_); }

  static std::unique_ptr<Backend> with(double team_ns, bool is_on = true) {
    BackendOptions options;
    options.tuning = {.is_on = is_on, .team_ns = [team_ns](int) { return team_ns; }};
    return makeOnednnBackend(options);
  }
  static std::string implementation(Backend& backend, const OperatorKindDesc& desc, std::int64_t elements) {
    const std::vector<TensorSpec> specs(desc.is<BinaryDesc>() ? 2 : 1, TensorSpec{.shape = {elements}});
    const auto kernel = backend.prepare(desc, Pass::inference, specs);
    EXPECT_TRUE(kernel.has_value()) << kernel.error().message;
    return kernel.has_value() ? (*kernel)->implementation() : "";
  }

 private:
  const int before_ = omp_get_max_threads();
};

TEST_F(TwoThreads, AreUsedByMeasurement) {
  const OperatorKindDesc relu = ActivationDesc{}, sum = BinaryDesc{};
  for (const OperatorKindDesc& desc : {relu, sum}) {
    EXPECT_THAT(implementation(*with(1e12), desc, 1 << 20), HasSubstr(", one thread"))
        << "starting threads takes long";
    EXPECT_THAT(implementation(*with(0), desc, 1 << 20), Not(HasSubstr("one thread"))) << "it takes no time";
  }
  EXPECT_THAT(implementation(*with(1e12, false), relu, 64), Not(HasSubstr("one thread"))) << "oneDNN decides";
}

TEST_F(TwoThreads, EveryOperatorIsMeasuredOnce) {
  OperatorTuning tuning({.is_on = true, .team_ns = [](int) { return 1000.0; }});
  int measured = 0;
  const auto element = [&measured] { return ++measured, 1.0; };
  EXPECT_EQ(tuning.parallelFrom("a", element), 2001);
  EXPECT_EQ(tuning.parallelFrom("a", element), 2001);
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(tuning.parallelFrom("b", [] { return 0.0; }), 0) << "unknown";
  OperatorTuning scaled({.is_on = true, .scale = 10, .team_ns = [](int) { return 1000.0; }});
  EXPECT_EQ(scaled.parallelFrom("a", element), 201);
  OperatorTuning one({.is_on = true, .cores = 1, .team_ns = [](int) { return 1000.0; }});
  EXPECT_EQ(one.parallelFrom("a", element), std::numeric_limits<std::int64_t>::max());
}

TEST_F(TwoThreads, SettingsSwitchAndPrint) {
  using Values = std::vector<std::pair<std::string, std::string>>;
  const auto printed = [](Values values) {
    values.emplace_back("MXNET_VERBOSE_TUNING_INFO", "1");
    const auto settings = Settings::fromValues(values);
    EXPECT_TRUE(settings.has_value()) << settings.error().message;
    testing::internal::CaptureStderr();
    const auto backend = openBackend("onednn", *settings);
    EXPECT_TRUE(backend.has_value());
    implementation(**backend, ActivationDesc{}, 64);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(printed({}), testing::ContainsRegex(
                               "operator tuning: .*inference runs on 2 threads from [0-9]+ elements on"));
  EXPECT_EQ(printed({{"MXNET_USE_OPERATOR_TUNING", "0"}}), "");
  EXPECT_EQ(printed({{"MXNET_ENABLE_OPERATOR_TUNING", "0"}}), "");
  EXPECT_NE(printed({{"MXNET_ENABLE_OPERATOR_TUNING", "0"}, {"MXNET_USE_OPERATOR_TUNING", "1"}}), "");
  EXPECT_THAT(printed({{"MXNET_USE_NUM_CORES_OPERATOR_TUNING", "1"}}), HasSubstr("runs on one thread"));
  const std::string data = printed({{"MXNET_OUTPUT_TUNING_DATA", "1"}});
  EXPECT_THAT(data, testing::ContainsRegex("starting 2 threads takes [0-9]+ ns"));
  EXPECT_THAT(data, testing::ContainsRegex("takes [0-9.]+ ns an element"));
}

TEST_F(TwoThreads, ResultsAreTheSame) {
  std::mt19937 random(1);
  const Array data = randomArray({100000}, random);
  const auto values = [&](double team_ns) {
    const auto backend = with(team_ns);
    const Answer out = ask(*backend, {.desc = ActivationDesc{ActivationType::tanh}, .inputs = {data}});
    return std::vector<float>(out.outputs[0].floats(), out.outputs[0].floats() + 100000);
  };
  EXPECT_EQ(values(0), values(1e12));
}

}  // namespace
}  // namespace pitwall::test::operator_tuning_test
