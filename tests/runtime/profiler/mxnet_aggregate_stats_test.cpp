// The table and the JSON of MXNet's dumps(), by golden text.
#include <gtest/gtest.h>

#include "runtime/profiler/mxnet/aggregate_stats.h"
#include "tests/runtime/profiler/mxnet_rows.h"

namespace pitwall::mxnet::mxnet_aggregate_stats_test {
namespace {

TEST(AggregateStatsTest, TheTableIsMxnets) {
  AggregateStats stats;
  for (const int us : {1500, 2500, 500}) stats.addDuration("operator", "Convolution", us * 1000);
  stats.addDuration("operator", "Activation", 1'000'000);
  stats.addDuration("operator", "a name that is longer than twenty-five", 1'000'000);
  stats.addSample("Device Storage", "Memory: cpu/0", 802816);
  stats.addSample("Device Storage", "Memory: cpu/0", 2000);
  stats.addSample("my domain", "images", 3);
  stats.addSample("my domain", "images", 5);
  stats.addMarker("my domain,instant_marker");
  EXPECT_EQ(
      stats.print({}),
      "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"
      "Device Storage\n=================\n"
      "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  (kB)\n"
      "----                          -----------    -------------    -------------    -------------\n"
      "Memory: cpu/0                           2           2.0000         802.8160         400.4080\n"
      "\n"
      "my domain\n=================\n"
      "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg "
      "Time (ms)\n"
      "----                          -----------        ---------    -------------    -------------    "
      "-------------\n"
      "images                                  2           0.0050           0.0030           0.0050          "
      " "
      "0.0010\n"
      "\n"
      "my domain,instant_marker\n=================\n"
      "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg "
      "Time (ms)\n"
      "----                          -----------        ---------    -------------    -------------    "
      "-------------\n"
      "\n"
      "operator\n=================\n"
      "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg "
      "Time (ms)\n"
      "----                          -----------        ---------    -------------    -------------    "
      "-------------\n"
      "Convolution                             3           4.5000           0.5000           2.5000          "
      " "
      "1.5000\n"
      "a name that is longer than twenty-five               1           1.0000           1.0000           "
      "1.0000           1.0000\n"
      "Activation                              1           1.0000           1.0000           1.0000          "
      " "
      "1.0000\n"
      "\n");
}

TEST(AggregateStatsTest, TheJsonIsMxnets) {
  AggregateStats stats;
  stats.addDuration("operator", "sqrt", 1'234'567'000);
  stats.addDuration("operator", "_plus_scalar", 1000);
  stats.addSample("Device Storage", "Memory: cpu/0", 123456);
  stats.addMarker("d,instant_marker");
  EXPECT_EQ(stats.print({.format = DumpsFormat::json}), R"({
    "Time": {
        "d,instant_marker": {
        }
        ,
        "operator": {
            "sqrt": {
                "Count": 1,
                "Total": 1235,
                "Min": 1235,
                "Max": 1235,
                "Avg": 1235
            }
            ,
            "_plus_scalar": {
                "Count": 1,
                "Total": 0.001,
                "Min": 0.001,
                "Max": 0.001,
                "Avg": 0.001
            }
        }
    }
    ,
    "Memory": {
        "Device Storage": {
            "Memory: cpu/0": {
                "Count": 1,
                "Min": 123.5,
                "Max": 123.5,
                "Avg": 0
            }
        }
    }
    ,
    "Unit": {
        "Time": "ms",
        "Memory": "kB"
    }
}
)");
}

TEST(AggregateStatsTest, EveryOrder) {
  AggregateStats stats;
  for (const int us : {1, 1, 1, 97}) stats.addDuration("operator", "a", us * 1000);  // total 100, avg 25
  for (const int us : {30, 50}) stats.addDuration("operator", "b", us * 1000);       // total 80, avg 40
  stats.addDuration("operator", "c", 60 * 1000);
  const auto first = [&](SortBy by, bool ascending) {
    return rowsOf(stats.print({.sort_by = by, .ascending = ascending}), "operator")[0].substr(0, 1);
  };
  EXPECT_EQ(first(SortBy::total, false) + first(SortBy::total, true), "ac");
  EXPECT_EQ(first(SortBy::avg, false) + first(SortBy::avg, true), "ca");
  EXPECT_EQ(first(SortBy::min, false) + first(SortBy::min, true), "ca");
  EXPECT_EQ(first(SortBy::max, false) + first(SortBy::max, true), "ab");
  EXPECT_EQ(first(SortBy::count, false) + first(SortBy::count, true), "ac");
}

}  // namespace
}  // namespace pitwall::mxnet::mxnet_aggregate_stats_test
