// The analyses over PyTorch's traces against HTA 0.5.0, with its last step included, and against sums over
// the events of the file alone.
//
// Differences that are meant: a memset is computation here (as in TraceLens), memory in HTA: 28 us of the
// first trace. Idle time is computed by device here: nothing runs on any stream; HTA computes it stream by
// stream, and a wait of a launched kernel has no bound of 30 ns here.
#include <gtest/gtest.h>

#include "tests/analyzer/analyzed.h"
#include "tests/db/import/corpus.h"

namespace pitwall::test::corpus_peer_test {
namespace {

std::string hta(const std::string& name) { return corpusFolder() + "/hta/" + name; }

TEST(AnalysisPeer, TemporalBreakdownIsHtas) {
  PITWALL_NEEDS_CORPUS();
  const auto trace = analyzeFiles({hta("timeline_analysis/sampled_rank-0.json.gz")});
  ASSERT_EQ(trace->error, "");
  const auto column = [&](const std::string& name) {
    return trace->number("SELECT " + name + " FROM analysis_device");
  };
  EXPECT_EQ(column("span_ns"), 1'222'847'000);
  EXPECT_EQ(column("all_idle_ns"), 675'191'000);
  EXPECT_EQ(column("computation_ns"), 210'320'000 + 28'000);
  EXPECT_EQ(column("communication_ns + copies_ns"), 337'336'000 - 28'000);
  EXPECT_EQ(column("communication_total_ns"), 396'199'000);
  // Of communication, what runs beside computation; HTA says 14.95 %.
  EXPECT_NEAR(column("1 - 1.0 * communication_ns / communication_total_ns"), 0.1495, 0.00005);
  EXPECT_EQ(column("kernels"), 1154 - 10);
  EXPECT_EQ(column("collectives"), 10);
  EXPECT_EQ(column("memsets"), 10);
  EXPECT_EQ(column("copies"), 40);
  EXPECT_EQ(column("span_ns - computation_ns - communication_ns - copies_ns - data_wait_ns - "
                   "synchronisation_ns - host_wait_ns - kernel_wait_ns - idle_ns"),
            0);
}

TEST(AnalysisPeer, KernelsAndCopiesAreHtas) {
  PITWALL_NEEDS_CORPUS();
  const auto trace = analyzeFiles({hta("timeline_analysis/sampled_rank-0.json.gz")});
  ASSERT_EQ(trace->error, "");
  struct Expected {
    const char* pattern;
    double total_us, least_us, greatest_us;
  };
  for (const auto& expected :
       {Expected{"ncclKernel_SendRecv%", 396'199, 11'727, 67'827},
        Expected{"void permute_pooled_embs_kernel%", 8'837, 2'185, 2'238},
        Expected{"Memcpy DtoD (Device -> Device)", 404, 4, 125},
        Expected{"Memcpy DtoH (Device -> Pageable)", 16, 2, 2},
        Expected{"Memcpy HtoD (Pageable -> Device)", 65, 1, 13},
        Expected{"Memcpy HtoD (Pinned -> Device)", 812, 11, 149}, Expected{"Memset (Device)", 28, 1, 10}}) {
    const auto column = [&](const std::string& name) {
      return trace->number("SELECT " + name + " FROM analysis_kernel WHERE name LIKE '" + expected.pattern +
                           "'");
    };
    EXPECT_EQ(column("sum(total_ns)"), expected.total_us * 1000) << expected.pattern;
    EXPECT_EQ(column("min(min_ns)"), expected.least_us * 1000) << expected.pattern;
    EXPECT_EQ(column("max(max_ns)"), expected.greatest_us * 1000) << expected.pattern;
  }
}

TEST(AnalysisPeer, LaunchesAreThoseOfTheEvents) {
  PITWALL_NEEDS_CORPUS();
  const auto trace = analyzeFiles({hta("timeline_analysis/sampled_rank-0.json.gz")});
  ASSERT_EQ(trace->error, "");
  const auto column = [&](const std::string& name) {
    return trace->number("SELECT " + name + " FROM analysis_launch");
  };
  // HTA counts 1204 launches of kernels, copies and memsets; the numbers here are counts over the file's
  // events, of its kernels and collectives alone.
  EXPECT_EQ(column("launches"), 1154);
  EXPECT_EQ(column("matched"), 1154);
  EXPECT_NEAR(column("delay_mean_ns"), 16'615'720.97, 1);
  EXPECT_EQ(column("delay_p50_ns"), 10'802'000);
  EXPECT_EQ(column("launch_call_ns"), 9'475'000);
  EXPECT_NEAR(column("queue_mean"), 22.998266897746966, 1e-9);
  EXPECT_EQ(column("short_count"), 379);
  EXPECT_EQ(column("host_longer_count"), 250);
}

// What the device computes, and the union of its copies, from the file's events; HTA calls 44.5 ms of the
// copies' sum MEMORY after rounding down.
TEST(AnalysisPeer, MtiaCopiesAndWaitsAreNoComputation) {
  PITWALL_NEEDS_CORPUS();
  const auto trace = analyzeFiles({hta("mtia_inference_trace/mtia_inference_rank_0.json.gz")});
  ASSERT_EQ(trace->error, "");
  EXPECT_NEAR(trace->number("SELECT computation_ns FROM analysis_device"), 414'085'123, 10);
  EXPECT_NEAR(trace->number("SELECT copies_total_ns FROM analysis_device"), 40'170'759, 10);
  EXPECT_EQ(trace->number("SELECT copies FROM analysis_device"), 877);
  EXPECT_EQ(trace->number("SELECT kernels FROM analysis_device"), 97);
  EXPECT_EQ(trace->number("SELECT count(DISTINCT direction) FROM analysis_copy"), 2);
}

// Each gap of each device, by the launch of the work that ends it, summed over the files' own events by a
// program that shares nothing with this one.
TEST(AnalysisPeer, IdleCausesAreThoseOfTheEvents) {
  PITWALL_NEEDS_CORPUS();
  struct Expected {
    const char *file, *device;
    double host, synchronisation, kernel, other;  // ns
  };
  for (const auto& expected :
       {Expected{"nsys/mfu_2gpu_before.sqlite", "gpu 0", 21'445'915, 18'487, 3'764'223, 802'400},
        Expected{"nsys/mfu_2gpu_before.sqlite", "gpu 1", 27'391'408, 142'501, 3'749'934, 101'792},
        Expected{"tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz", "gpu 0", 3'592'988, 5'400, 0,
                 0},
        Expected{"tracelens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz", "gpu 0", 717'564,
                 7'009, 834'680, 0},
        Expected{"hta/timeline_analysis/sampled_rank-0.json.gz", "gpu 0", 362'945'000, 0, 732'000,
                 311'514'000}}) {
    const auto trace = analyzeFiles({corpusFolder() + "/" + expected.file});
    ASSERT_EQ(trace->error, "") << expected.file;
    const auto column = [&](const std::string& name) {
      return trace->number("SELECT " + name + " FROM analysis_device WHERE device = '" + expected.device +
                           "'");
    };
    EXPECT_EQ(column("host_wait_ns"), expected.host) << expected.file;
    EXPECT_EQ(column("synchronisation_ns"), expected.synchronisation) << expected.file;
    EXPECT_EQ(column("kernel_wait_ns"), expected.kernel) << expected.file;
    EXPECT_EQ(column("idle_ns"), expected.other) << expected.file;
    EXPECT_EQ(column("data_wait_ns + unattributed_ns"), 0) << expected.file;
  }
}

// Two of 128 ranks that are mostly in other groups: four of their ten collectives meet.
TEST(AnalysisPeer, RanksOfOtherGroupsAreNotCalledLate) {
  PITWALL_NEEDS_CORPUS();
  const auto trace =
      analyzeFiles({hta("trace_filter/sampled_rank-0.json.gz"), hta("trace_filter/sampled_rank-1.json.gz")});
  ASSERT_EQ(trace->error, "");
  EXPECT_EQ(trace->number("SELECT min(collectives_compared) FROM analysis_rank"), 4);
  EXPECT_EQ(trace->number("SELECT max(collectives_compared) FROM analysis_rank"), 4);
  EXPECT_EQ(trace->number("SELECT count(*) FROM analysis_rank WHERE wait_ns > communication_ns"), 0);
  EXPECT_EQ(trace->finding("communication/straggler"), nullptr);
  EXPECT_EQ(trace->number("SELECT sum(total_ns) FROM analysis_breakdown"), 1'222'847'000.0 + 1'231'186'000.0);
}

}  // namespace
}  // namespace pitwall::test::corpus_peer_test
