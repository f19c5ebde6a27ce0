// Parsing of values as the catalogue specifies.
#include "db/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace pitwall::settings_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Pairs = std::vector<std::pair<std::string, std::string>>;

Settings settingsOf(const Pairs& pairs) {
  auto settings = Settings::fromValues(pairs);
  EXPECT_TRUE(settings.has_value()) << (settings.has_value() ? "" : settings.error().message);
  return settings.value_or(Settings{});
}

std::string errorOf(const Pairs& pairs) {
  const auto settings = Settings::fromValues(pairs);
  EXPECT_FALSE(settings.has_value());
  if (settings.has_value()) return {};
  EXPECT_EQ(settings.error().code, ErrorCode::invalidInput);
  return settings.error().message;
}

TEST(Settings, DefaultsWhenNothingIsSet) {
  const Settings settings = settingsOf({});
  EXPECT_EQ(settings.text("MXNET_ENGINE_TYPE"), "ThreadedEnginePerDevice");
  EXPECT_EQ(settings.integer("MXNET_CPU_WORKER_NTHREADS"), 1);
  EXPECT_EQ(settings.integer("MXNET_CPU_PRIORITY_NTHREADS"), 4);
  EXPECT_EQ(settings.integer("MXNET_MKLDNN_CACHE_NUM"), -1);
  EXPECT_TRUE(settings.boolean("MXNET_EXEC_BULK_EXEC_TRAIN"));
  EXPECT_DOUBLE_EQ(settings.real("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY"), 0.7);
  EXPECT_FALSE(settings.isSet("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD"));
}

TEST(Settings, EmptyMeansDefault) {
  const Settings settings = settingsOf({{"MXNET_ENGINE_TYPE", ""}, {"MXNET_CPU_WORKER_NTHREADS", ""}});
  EXPECT_EQ(settings.text("MXNET_ENGINE_TYPE"), "ThreadedEnginePerDevice");
  EXPECT_FALSE(settings.isSet("MXNET_ENGINE_TYPE"));
  EXPECT_EQ(settings.inEffect("MXNET_CPU_WORKER_NTHREADS").source, SettingSource::byDefault);
}

TEST(Settings, BooleansTakeFourWordsInAnyCase) {
  for (const char* yes : {"1", "true", "TRUE", "True", " 1 "})
    EXPECT_TRUE(settingsOf({{"MXNET_MKLDNN_ENABLED", yes}}).boolean("MXNET_MKLDNN_ENABLED")) << yes;
  for (const char* no : {"0", "false", "FALSE", "False"})
    EXPECT_FALSE(settingsOf({{"MXNET_MKLDNN_ENABLED", no}}).boolean("MXNET_MKLDNN_ENABLED")) << no;
  for (const char* bad : {"yes", "2", "on", "t", "01", "-1"})
    EXPECT_THAT(errorOf({{"MXNET_MKLDNN_ENABLED", bad}}), HasSubstr("true, false, 1 or 0")) << bad;
}

TEST(Settings, IntegersTolerateBlanksAndNothingElse) {
  for (const char* good : {"3", " 3", "3 ", "\t3\n", "+3", "03"})
    EXPECT_EQ(settingsOf({{"MXNET_CPU_WORKER_NTHREADS", good}}).integer("MXNET_CPU_WORKER_NTHREADS"), 3)
        << good;
  for (const char* bad :
       {"abc", "3x", "3.0", "0x3", "1e1", " ", "+-3", "++3", "99999999999999999999999", "3 4", "0", "-1"})
    EXPECT_THAT(errorOf({{"MXNET_CPU_WORKER_NTHREADS", bad}}),
                AllOf(HasSubstr("MXNET_CPU_WORKER_NTHREADS=" + std::string(bad)), HasSubstr("from 1 to")))
        << bad;
}

TEST(Settings, RangesAreClosed) {
  const SettingInfo* size = findSetting("MXNET_OPTIMIZER_AGGREGATION_SIZE");
  ASSERT_NE(size, nullptr);
  for (const char* good : {"1", "60"}) EXPECT_TRUE(checkSettingValue(*size, good).has_value()) << good;
  for (const char* bad : {"0", "61", "-5"}) EXPECT_FALSE(checkSettingValue(*size, bad).has_value()) << bad;
  const SettingInfo* cutoff = findSetting("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF");
  ASSERT_NE(cutoff, nullptr);
  for (const char* good : {"20", "34"}) EXPECT_TRUE(checkSettingValue(*cutoff, good).has_value()) << good;
  for (const char* bad : {"19", "35"}) EXPECT_FALSE(checkSettingValue(*cutoff, bad).has_value()) << bad;
}

TEST(Settings, RealsRefuseInfinityAndText) {
  const SettingInfo* info = findSetting("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY");
  ASSERT_NE(info, nullptr);
  for (const char* good : {"0.5", "0", "1", "5e-1"}) EXPECT_TRUE(checkSettingValue(*info, good).has_value());
  for (const char* bad : {"inf", "nan", "1.1", "-0.1", "half", "0,5"})
    EXPECT_FALSE(checkSettingValue(*info, bad).has_value()) << bad;
}

TEST(Settings, UnknownEngineNamesVariableValueAndChoices) {
  EXPECT_EQ(errorOf({{"MXNET_ENGINE_TYPE", "Foo"}}),
            "MXNET_ENGINE_TYPE=Foo: must be one of NaiveEngine, ThreadedEngine, ThreadedEnginePerDevice; "
            "unset it for the default, ThreadedEnginePerDevice");
  EXPECT_THAT(errorOf({{"MXNET_ENGINE_TYPE", "naiveengine"}}), HasSubstr("NaiveEngine"));
}

TEST(Settings, BadValuesOfOthersAreTheirOwnersBusiness) {
  const Settings settings = settingsOf(
      {{"OMP_NUM_THREADS", "many"}, {"MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT", "perhaps"}, {"NO_SUCH", "1"}});
  EXPECT_EQ(settings.text("OMP_NUM_THREADS"), "many");
  EXPECT_FALSE(settings.boolean("MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT"));  // falls back to the default
}

TEST(Settings, EnvironmentWinsOverTheProgram) {
  Settings settings = settingsOf({{"MXNET_CPU_WORKER_NTHREADS", "2"}});
  EXPECT_TRUE(settings.set("MXNET_CPU_WORKER_NTHREADS", "8").has_value());
  EXPECT_TRUE(settings.set("MXNET_ENGINE_TYPE", "NaiveEngine").has_value());
  EXPECT_EQ(settings.integer("MXNET_CPU_WORKER_NTHREADS"), 2);
  EXPECT_EQ(settings.inEffect("MXNET_CPU_WORKER_NTHREADS").source, SettingSource::environment);
  EXPECT_EQ(settings.text("MXNET_ENGINE_TYPE"), "NaiveEngine");
  EXPECT_EQ(settings.inEffect("MXNET_ENGINE_TYPE").source, SettingSource::program);
}

TEST(Settings, SetRefusesUnknownNamesAndBadValues) {
  Settings settings = settingsOf({});
  EXPECT_EQ(settings.set("MXNET_CPU_WORKERS", "2").error().code, ErrorCode::notFound);
  EXPECT_EQ(settings.set("MXNET_CPU_WORKER_NTHREADS", "0").error().code, ErrorCode::invalidInput);
  EXPECT_EQ(settings.integer("MXNET_CPU_WORKER_NTHREADS"), 1);
}

TEST(Settings, Tunables) {
  Settings settings = settingsOf(
      {{"PITWALL_TUNE_batch_size", " 64 "}, {"PITWALL_TUNE_depth", "two"}, {"PITWALL_TUNE_empty", ""}});
  EXPECT_EQ(settings.tunable("batch_size").value(), 64);
  EXPECT_EQ(settings.tunable("unset").value(), std::nullopt);
  EXPECT_EQ(settings.tunable("empty").value(), std::nullopt);
  EXPECT_EQ(settings.tunable("depth").error().message, "PITWALL_TUNE_depth=two: must be an integer");
  EXPECT_TRUE(settings.set("PITWALL_TUNE_batch_size", "8").has_value());
  EXPECT_TRUE(settings.set("PITWALL_TUNE_threads", "8").has_value());
  EXPECT_EQ(settings.tunable("batch_size").value(), 64);
  EXPECT_EQ(settings.tunable("threads").value(), 8);
}

TEST(Settings, AllInEffectListsHonouredOnesAndWhatElseIsSet) {
  const Settings settings = settingsOf({{"OMP_NUM_THREADS", "2"}, {"MXNET_CPU_WORKER_NTHREADS", "3"}});
  const auto all = settings.allInEffect();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &SettingInEffect::name));
  const auto valueOf = [&](std::string_view name) -> std::string {
    const auto found = std::ranges::find(all, name, &SettingInEffect::name);
    return found == all.end() ? "absent" : found->value;
  };
  EXPECT_EQ(valueOf("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(valueOf("MXNET_CPU_WORKER_NTHREADS"), "3");
  EXPECT_EQ(valueOf("MXNET_ENGINE_TYPE"), "ThreadedEnginePerDevice");
  EXPECT_EQ(valueOf("OMP_WAIT_POLICY"), "absent");
  EXPECT_EQ(valueOf("PITWALL_TUNE_*"), "absent");
}

TEST(Settings, SomeAreReadByNewVersionsOfTheirLibraryOnly) {
  const auto* info = findSetting("ONEDNN_DEFAULT_FPMATH_MODE");
  ASSERT_NE(info, nullptr);
  EXPECT_FALSE(versionReads(*info, "2.4.4"));
  EXPECT_FALSE(versionReads(*info, "v1.96.2"));
  EXPECT_FALSE(versionReads(*info, "2"));
  EXPECT_TRUE(versionReads(*info, "2.5"));
  EXPECT_TRUE(versionReads(*info, "2.5.0"));
  EXPECT_TRUE(versionReads(*info, "2.10.1")) << "numbers, not text";
  EXPECT_TRUE(versionReads(*info, "v3.0.0 (commit 1)"));
  EXPECT_TRUE(versionReads(*info, "")) << "not known";
  EXPECT_TRUE(versionReads(*findSetting("DNNL_VERBOSE"), "1.0")) << "no version is known to be too old";
}

TEST(Settings, FromEnvironmentReadsTheProcess) {
  ::setenv("MXNET_CPU_WORKER_NTHREADS", "5", 1);
  ::setenv("PITWALL_TUNE_from_environment", "7", 1);
  const auto settings = Settings::fromEnvironment();
  ::setenv("MXNET_CPU_WORKER_NTHREADS", "abc", 1);
  const auto broken = Settings::fromEnvironment();
  ::unsetenv("MXNET_CPU_WORKER_NTHREADS");
  ::unsetenv("PITWALL_TUNE_from_environment");
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->integer("MXNET_CPU_WORKER_NTHREADS"), 5);
  EXPECT_EQ(settings->tunable("from_environment").value(), 7);
  ASSERT_FALSE(broken.has_value());
  EXPECT_THAT(broken.error().message, HasSubstr("MXNET_CPU_WORKER_NTHREADS=abc"));
}

}  // namespace
}  // namespace pitwall::settings_test
