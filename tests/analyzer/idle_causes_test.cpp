// Why a device was idle: each cause on both sides of what separates it from the next.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/analysis.h"
#include "db/reader.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::test::idle_causes_test {
namespace {

// The only value of a query of the analysed trace.
std::string value(const std::string& text, const std::string& sql) {
  const TempFolder folder;
  EXPECT_TRUE(makeTraceFile(text, folder / "t.pitwall").has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  EXPECT_TRUE(trace.has_value());
  EXPECT_TRUE(analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}}).has_value());
  const auto rows = (*trace)->query(fmt::format("SELECT CAST(({}) AS TEXT)", sql));
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  if (!rows.has_value() || rows->rows.size() != 1) return "";
  const auto* only = std::get_if<std::string>(&rows->rows[0][0]);
  return only == nullptr ? "null" : *only;
}

// The only gap: after a kernel that ends at 110 us, before one that `next` describes.
std::string causeOf(const std::string& next, const std::string& others = "") {
  return value("work kernel first 100us 10us launch=0us call=1us\nwork kernel second " + next + "\n" + others,
               "SELECT group_concat(cause || ' ' || dur_ns) FROM analysis_gap");
}

TEST(IdleCauses, AGapOfQueuedWorkIsTheDevicesForTenMicroseconds) {
  EXPECT_EQ(causeOf("120us 10us launch=50us"), "kernel wait 10000");
  EXPECT_EQ(causeOf("120001ns 10us launch=50us"), "idle 10001") << "longer than a device takes";
  EXPECT_EQ(causeOf("115us 10us"), "idle 5000") << "it is unknown whether it was queued";
}

TEST(IdleCauses, AGapIsTheHostsWhereTheLaunchBeganInIt) {
  EXPECT_EQ(causeOf("150us 10us launch=110us call=1us"), "host wait 40000") << "when the gap began";
  EXPECT_EQ(causeOf("150us 10us launch=109999ns call=1us"), "idle 40000") << "just before it";
  EXPECT_EQ(causeOf("115us 10us launch=110us call=1us"), "host wait 5000") << "however short";
  EXPECT_EQ(causeOf("115us 10us launch=109999ns call=1us"), "kernel wait 5000");
}

TEST(IdleCauses, AWaitOfHalfTheGapIsItsCause) {
  const std::string next = "210us 10us launch=200us call=1us";  // a gap of 100 us
  EXPECT_EQ(causeOf(next, "span data_wait 120us 50us\n"), "data wait 100000");
  EXPECT_EQ(causeOf(next, "span data_wait 120us 49999ns\n"), "host wait 100000");
  EXPECT_EQ(causeOf(next, "call cudaStreamSynchronize 120us 50us\n"), "synchronisation 100000");
  EXPECT_EQ(causeOf(next, "call cudaStreamSynchronize 120us 49999ns\n"), "host wait 100000");
  EXPECT_EQ(causeOf(next, "call cudaStreamSynchronize 60us 200us\nspan data_wait 60us 100us on=loader\n"),
            "data wait 100000")
      << "half of each: the wait for data explains the other";
}

TEST(IdleCauses, TimeOfAGapIsDividedAmongItsWaits) {
  const std::string text =
      "work kernel first 100us 10us launch=0us call=1us\nwork kernel second 210us 10us launch=200us "
      "call=1us\n"
      "span data_wait 90us 50us\ncall cudaStreamSynchronize 130us 30us\n";
  EXPECT_EQ(
      value(text,
            "SELECT json_array(data_wait_ns, synchronisation_ns, host_wait_ns, kernel_wait_ns, idle_ns, "
            "all_idle_ns) FROM analysis_device"),
      "[30000,20000,50000,0,0,100000]")
      << "where both wait, it is for data";
}

TEST(IdleCauses, AGapOfAMillisecondIsNotTheCostOfALaunch) {
  const auto shortWaitUpTo = [](const char* start) {
    return value(fmt::format("work kernel first 0us 10us launch=0us call=1us\n"
                             "work kernel second {} 10us launch=20us call=1us\n",
                             start),
                 "SELECT short_wait_ns FROM analysis_launch");
  };
  EXPECT_EQ(shortWaitUpTo("1009999ns"), "999999");
  EXPECT_EQ(shortWaitUpTo("1010us"), "0");
}

TEST(IdleCauses, KernelsBelowTenMicrosecondsAreShort) {
  const auto shortKernels = [](const char* length) {
    return value(fmt::format("work kernel a 100us {} launch=0us\n", length),
                 "SELECT short_count FROM analysis_launch");
  };
  EXPECT_EQ(shortKernels("9999ns"), "1");
  EXPECT_EQ(shortKernels("10us"), "0");
}

// Each iteration has a kernel.
TEST(IdleCauses, TheWindowIsTheSteadyIterationsFromThreeOn) {
  const auto windowOf = [](int iterations) {
    return value(fmt::format("repeat {} 1ms\n  iteration 0 16\n  op a Convolution forward 10us 900us\n"
                             "  work kernel k 100us 50us launch=50us\nend\n",
                             iterations),
                 "SELECT steady_iterations || ' ' || \"window\" || ' ' || span_ns FROM analysis_device, "
                 "analysis_summary");
  };
  EXPECT_EQ(windowOf(6), "3 steady iterations 3000000");
  EXPECT_EQ(windowOf(5), "2 whole trace 4050000") << "from the first kernel to the last";
}

// Gaps of 21, 22, ... us.
TEST(IdleCauses, TheLongestThousandGapsAreKept) {
  const auto gapsOf = [](int count) {
    std::string text;
    std::int64_t at = 0;
    for (int i = 0; i <= count; ++i) {
      text += fmt::format("work kernel k {}us 1us\n", at);
      at += 1 + 21 + i;
    }
    return value(text, "SELECT json_array(count(*), min(dur_ns), max(dur_ns)) FROM analysis_gap");
  };
  EXPECT_EQ(gapsOf(1000), "[1000,21000,1020000]");
  EXPECT_EQ(gapsOf(1001), "[1000,22000,1021000]") << "without the shortest";
}

}  // namespace
}  // namespace pitwall::test::idle_causes_test
