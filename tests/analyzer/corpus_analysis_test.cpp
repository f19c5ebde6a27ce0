// The analyses over real traces of other tools, against what those tools and the corpus's makers computed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "analyzer/analysis.h"
#include "tests/analyzer/analyzed_corpus.h"

namespace pitwall::test::corpus_analysis_test {
namespace {

TEST(AnalysisCorpus, EveryKindOfTraceSumsToItsSpan) {
  PITWALL_NEEDS_CORPUS();
  for (const auto& [path, expected] : expectedCounts()) {
    if (path.rfind("hta/", 0) != 0 && path.rfind("nsys/", 0) != 0) continue;
    SCOPED_TRACE(path);
    const auto a = analyzeCorpus(path);
    ASSERT_EQ(a->error, "");
    EXPECT_EQ(
        a->number(
            "SELECT coalesce(sum(span_ns - computation_ns - communication_ns - copies_ns - data_wait_ns - "
            "synchronisation_ns - host_wait_ns - kernel_wait_ns - idle_ns), 0) FROM analysis_device"),
        0);
    EXPECT_EQ(a->number("SELECT coalesce(sum(span_ns - device_ns - host_ns - delay_ns - nothing_ns), 0) FROM "
                        "analysis_critical_path"),
              0);
    EXPECT_EQ(
        a->number("SELECT count(*) FROM (SELECT start_ns, lag(start_ns + dur_ns) OVER (ORDER BY start_ns) AS "
                  "before FROM analysis_critical_step) WHERE before IS NOT NULL AND before <> start_ns"),
        0);
    double shares = 0;
    for (const auto& share : a->report.breakdown.shares) shares += share.share;
    if (a->report.breakdown.wall_ns > 0) {
      EXPECT_NEAR(shares, 1, 1e-9);
    }
  }
}

TEST(AnalysisCorpus, LaunchBoundInferenceIsNamed) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"h100/gaunernst_bert-small-uncased__1016001.json.gz",
                           "h100/Falconsai_nsfw_image_detection__1016002.json.gz"}) {
    const auto a = analyzeCorpus(std::string("tracelens/") + name);
    ASSERT_EQ(a->error, "");
    const auto* found = a->finding("gpu/launch-bound");
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->severity, Severity::high);
    for (const auto& finding : a->report.findings) {
      for (const auto& proposal : finding.proposals)
        EXPECT_NE(proposal.name.rfind("MXNET_", 0), 0U) << proposal.name << " for PyTorch";
    }
  }
}

TEST(AnalysisCorpus, BusyDevicesAreLeftInPeace) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"tracelens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
                           "nsys/healthy_1pct.sqlite"}) {
    const auto a = analyzeCorpus(name);
    ASSERT_EQ(a->error, "");
    EXPECT_EQ(a->finding("gpu/idle"), nullptr) << name;
    EXPECT_EQ(a->finding("gpu/launch-bound"), nullptr) << name;
    EXPECT_EQ(a->finding("communication/share"), nullptr) << name;
  }
}

TEST(AnalysisCorpus, NsightCapturesIdleAndCopies) {
  PITWALL_NEEDS_CORPUS();
  const auto mock = analyzeCorpus("nsys/mock.sqlite");
  ASSERT_EQ(mock->error, "");
  ASSERT_NE(mock->finding("gpu/idle"), nullptr);
  EXPECT_EQ(mock->finding("gpu/idle")->severity, Severity::high);
  EXPECT_EQ(mock->finding("communication/share"), nullptr);
  const auto mfu = analyzeCorpus("nsys/mfu_2gpu_before.sqlite");
  ASSERT_EQ(mfu->error, "");
  EXPECT_EQ(mfu->number("SELECT span_ns FROM analysis_device WHERE device = 'gpu 0'"), 299848812);
  EXPECT_EQ(mfu->number("SELECT busy_ns FROM analysis_device WHERE device = 'gpu 0'"), 273817787);
  EXPECT_NEAR(mfu->number("SELECT 1.0 * all_idle_ns / span_ns FROM analysis_device WHERE device = 'gpu 1'"),
              0.1051, 0.0001);
  EXPECT_EQ(mfu->finding("gpu/pageable-copies"), nullptr) << "34 copies of 8 bytes";
  EXPECT_EQ(mfu->finding("gpu/synchronises"), nullptr) << "it waits for a device that is busy";
}

TEST(AnalysisCorpus, SpinningThreadsAreDistinguishedFromSleepingOnes) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"omp2_active_r1", "omp2_active_r2"}) {
    const auto a = analyzeCorpus(fmt::format("onednn_generated/ab_threads/{}.log", name));
    ASSERT_EQ(a->error, "");
    EXPECT_NE(a->finding("threads/stalls"), nullptr) << name;
  }
  for (const char* name : {"omp2_passive_r1", "omp1_r1", "omp4_r1"}) {
    const auto a = analyzeCorpus(fmt::format("onednn_generated/ab_threads/{}.log", name));
    ASSERT_EQ(a->error, "");
    EXPECT_EQ(a->finding("threads/stalls"), nullptr) << name;
  }
}

TEST(AnalysisCorpus, VerboseLogsTellReordersAndMissingFusion) {
  PITWALL_NEEDS_CORPUS();
  const auto reorders = analyzeCorpus("onednn_snippets/v1.1.2_mxnet_conv_with_mkl.log");
  ASSERT_EQ(reorders->error, "");
  EXPECT_NE(reorders->finding("onednn/reorder-share"), nullptr);
  EXPECT_NEAR(
      reorders->number("SELECT 1.0 * sum(CASE WHEN name = 'reorder' THEN total_ns END) / sum(total_ns) FROM "
                       "analysis_operator WHERE backend = 'onednn'"),
      0.69, 0.005);
  const auto unfused = analyzeCorpus("onednn_snippets/v3.2.0_mlp_unfused.log");
  ASSERT_EQ(unfused->error, "");
  EXPECT_NE(unfused->finding("onednn/unfused"), nullptr);
  const auto fused = analyzeCorpus("onednn_snippets/v3.2.0_mlp_fused.log");
  ASSERT_EQ(fused->error, "");
  EXPECT_EQ(fused->finding("onednn/unfused"), nullptr);
}

TEST(AnalysisCorpus, CollectivesAreThoseOfTheTrace) {
  PITWALL_NEEDS_CORPUS();
  const auto a = analyzeCorpus("hta/nccl_parser_config/nccl_data.json.gz");
  ASSERT_EQ(a->error, "");
  EXPECT_EQ(a->number("SELECT sum(count) FROM analysis_collective WHERE collective = 'all_reduce'"), 15);
  EXPECT_EQ(a->number("SELECT sum(count) FROM analysis_collective WHERE collective = 'broadcast'"), 6);
  EXPECT_EQ(a->number("SELECT sum(total_ns) FROM analysis_collective"), 46876493);
  EXPECT_EQ(a->number("SELECT json_extract(args, '$.in_elements') FROM event WHERE kind = 'communication' "
                      "AND name LIKE '%AllReduce%' ORDER BY start_ns LIMIT 1"),
            2049000);
  EXPECT_EQ(a->number("SELECT min(group_size) FROM analysis_collective"), 2);
  EXPECT_EQ(a->number("SELECT max(group_size) FROM analysis_collective"), 2);
  EXPECT_EQ(a->number("SELECT sum(bytes) FROM analysis_collective WHERE collective = 'all_reduce'"),
            a->number("SELECT sum(4 * json_extract(args, '$.in_elements')) FROM event WHERE kind = "
                      "'communication' AND name LIKE '%AllReduce%'"));
  // Of two ranks a ring moves as much over the link as it reduces.
  EXPECT_EQ(a->number("SELECT max(abs(bus_bytes_per_second - algorithm_bytes_per_second)) FROM "
                      "analysis_collective WHERE collective = 'all_reduce'"),
            0);
}

TEST(AnalysisCorpus, RangesWithHardwareCountersAreOnTheDevice) {
  PITWALL_NEEDS_CORPUS();
  const auto a = analyzeCorpus("hta/cupti_profiler/benchmark_result_924719_1679055439_trace.json.gz");
  ASSERT_EQ(a->error, "");
  EXPECT_EQ(a->number("SELECT sum(count) FROM analysis_name WHERE kind = 'scope' AND track_kind = 'stream'"),
            77);
  EXPECT_GT(a->number("SELECT sum(count) FROM analysis_name WHERE name LIKE '%fft2d_r2c_32x32%'"), 0);
  EXPECT_EQ(
      a->number(
          "SELECT count(*) FROM analysis_counter WHERE name LIKE 'gpu 0: smsp__sass%' AND samples = 77"),
      9)
      << "each range has all nine counters";
  EXPECT_EQ(
      a->number("SELECT value FROM counter WHERE name LIKE '%ffma_pred_on.sum' ORDER BY time_ns LIMIT 1"),
      38731776);
  EXPECT_EQ(a->number("SELECT count(*) FROM analysis_device"), 0) << "no kernel was recorded";
  const auto stack = a->rows(
      "SELECT o.name FROM event r JOIN dependency d ON d.target = r.correlation JOIN event c ON "
      "c.correlation "
      "= d.source JOIN event o ON o.track = c.track AND o.kind = 'operator' AND o.start_ns <= c.start_ns AND "
      "o.end_ns >= c.end_ns WHERE r.id = (SELECT id FROM event WHERE name LIKE '%fft2d_r2c_32x32%' ORDER BY "
      "start_ns LIMIT 1) ORDER BY o.start_ns");
  ASSERT_EQ(stack.rows.size(), 4U);
  EXPECT_EQ(std::get<std::string>(stack.rows[0][0]), "aten::conv2d");
  EXPECT_EQ(std::get<std::string>(stack.rows[3][0]), "aten::cudnn_convolution");
}

TEST(AnalysisCorpus, TracesWithoutDevicesOrRanksAreAnalysedAllTheSame) {
  PITWALL_NEEDS_CORPUS();
  for (const char* name : {"hta/rank_non_gpu/rank_non_gpu.json.gz",
                           "hta/distributed_info_unavailable/distributed_info_not_found.json.gz",
                           "hta/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"}) {
    SCOPED_TRACE(name);
    const auto a = analyzeCorpus(name);
    ASSERT_EQ(a->error, "");
    for (const char* table : {"analysis_device", "analysis_launch", "analysis_copy"})
      EXPECT_EQ(a->number(fmt::format("SELECT count(*) FROM {}", table)), 0) << table;
    EXPECT_EQ(a->number("SELECT count(*) FROM analysis_collective WHERE device <> 'cpu'"), 0);
    EXPECT_EQ(a->finding("gpu/idle"), nullptr);
    EXPECT_GT(a->number("SELECT count(*) FROM analysis_name"), 0);
  }
}

TEST(AnalysisCorpus, CallsAreSummedByThread) {
  PITWALL_NEEDS_CORPUS();
  const auto mfu = analyzeCorpus("nsys/mfu_2gpu_before.sqlite");
  ASSERT_EQ(mfu->error, "");
  EXPECT_EQ(mfu->number("SELECT sum(total_ns) FROM analysis_call WHERE name LIKE '%StreamSynchronize%'"),
            324534733);
  EXPECT_GT(mfu->number("SELECT count(*) FROM analysis_call WHERE name LIKE '%StreamSynchronize%'"), 1)
      << "of two processes: one clock does not hold both";
  const auto mxnet = analyzeCorpus("mxnet/cpu_mnist_cnn_profile_output.json");
  ASSERT_EQ(mxnet->error, "");
  EXPECT_EQ(mxnet->number("SELECT sum(count) FROM analysis_name WHERE name = 'Convolution'"), 2)
      << "each is written twice, as a duration and as an asynchronous one";
}

TEST(AnalysisCorpus, PrimitivesTakeWhatTheLogSays) {
  PITWALL_NEEDS_CORPUS();
  const auto mxnet = analyzeCorpus("onednn_snippets/v2.3.2_mxnet_optimize_for_before_after.log");
  ASSERT_EQ(mxnet->error, "");
  EXPECT_EQ(mxnet->number("SELECT sum(total_ns) FROM analysis_name WHERE name = 'eltwise'"), 85439200);
  EXPECT_EQ(mxnet->number("SELECT max(max_ns) FROM analysis_name WHERE name = 'convolution'"), 91511000);
  EXPECT_EQ(mxnet->number("SELECT min(min_ns) FROM analysis_name WHERE name = 'convolution'"), 20460000)
      << "fused";
  for (const auto& [log, ms] : {std::pair{"unfused", 103.93}, std::pair{"fused", 19.11}}) {
    const auto mlp = analyzeCorpus(fmt::format("onednn_snippets/v3.2.0_mlp_{}.log", log));
    ASSERT_EQ(mlp->error, "");
    EXPECT_NEAR(mlp->number("SELECT sum(total_ns) / 1e6 FROM analysis_name WHERE kind = 'operator'"), ms,
                0.005);
  }
  const auto active = analyzeCorpus("onednn_generated/ab_threads/omp2_active_r2.log");
  ASSERT_EQ(active->error, "");
  EXPECT_NEAR(active->number("SELECT avg(dur_ns > 3000000) FROM event WHERE kind = 'operator'"), 0.41, 0.005);
  EXPECT_NEAR(active->number("SELECT max(max_ns) / 1e6 FROM analysis_name WHERE kind = 'operator'"), 41,
              0.05);
  EXPECT_NEAR(
      active->number("SELECT dur_ns / 1e6 FROM event WHERE name = 'eltwise' ORDER BY dur_ns LIMIT 1 OFFSET "
                     "(SELECT CAST(0.9 * count(*) AS INTEGER) FROM event WHERE name = 'eltwise')"),
      11.96, 0.005)
      << "nine of ten";
}

}  // namespace
}  // namespace pitwall::test::corpus_analysis_test
