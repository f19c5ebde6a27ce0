// What key-value stores cost each rank and key, by hand.
#include <gtest/gtest.h>

#include "analyzer/analysis.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::analysis::kvstore_test {
namespace {

struct Analysis {
  explicit Analysis(const std::string& text) {
    const std::string path = folder / "run.pitwall";
    const Status made = test::makeTraceFile(text, path);
    EXPECT_TRUE(made.has_value());
    trace = std::move(Trace::open(path).value());
    auto analysed = analyzeTrace(*trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
    EXPECT_TRUE(analysed.has_value());
    if (analysed.has_value()) report = std::move(analysed).value();
  }
  std::vector<std::int64_t> numbers(const std::string& sql) const {
    const auto rows = trace->query(sql);
    EXPECT_TRUE(rows.has_value()) << sql;
    std::vector<std::int64_t> result;
    for (const auto& row : rows->rows)
      for (const auto& value : row)
        result.push_back(std::holds_alternative<double>(value)
                             ? static_cast<std::int64_t>(std::get<double>(value))
                         : std::holds_alternative<std::int64_t>(value) ? std::get<std::int64_t>(value)
                                                                       : -1);
    return result;
  }
  test::TempFolder folder;
  std::unique_ptr<Trace> trace;
  Report report;
};

using Numbers = std::vector<std::int64_t>;

// Of 6 ms, 2 overlap with an operator of another kind; another store's operator hides nothing.
TEST(KVStoreAnalysis, CommunicationIsHiddenWhileOtherOperatorsRun) {
  const Analysis analysis(
      "iteration 0 1\n"
      "op - Convolution forward 0ms 4ms\n"
      "op w KVStoreReduce update 2ms 6ms on=cpu_worker_1 written=4000 impl=2_arrays\n"
      "op v KVStoreBroadcast update 7ms 2ms on=cpu_worker_2 written=8000\n"
      "iteration 10ms 1\n");
  EXPECT_EQ(analysis.numbers(
                "SELECT count, total_ns, bytes, hidden_ns, exposed_ns FROM analysis_kvstore ORDER BY key"),
            (Numbers{1, 2'000'000, 8000, 0, 2'000'000, 1, 6'000'000, 4000, 2'000'000, 4'000'000}));
  EXPECT_EQ(analysis.numbers(
                "SELECT rank, span_ns, computation_ns, communication_ns, hidden_ns, exposed_ns, exchanges, "
                "exchanges_compared, wait_ns FROM analysis_kvstore_rank"),
            (Numbers{0, 10'000'000, 4'000'000, 7'000'000, 2'000'000, 5'000'000, 0, 0, -1}));
}

// Rank 1 has its data 3 ms after rank 0, which waits for it.
TEST(KVStoreAnalysis, TheRankWhoseDataComesLastIsLate) {
  const Analysis analysis(
      "repeat 5 10ms\n"
      "  iteration 0 1\n"
      "  op - Convolution forward 0ms 1ms\n"
      "  op w KVStoreDistAllReduce update 1ms 4ms on=cpu_worker_1 written=4000\n"
      "  op - Convolution forward 0ms 4ms rank=1\n"
      "  op w KVStoreDistAllReduce update 4ms 1ms on=cpu_worker_1 written=4000 rank=1\n"
      "end\n");
  EXPECT_EQ(
      analysis.numbers(
          "SELECT rank, wait_ns / count, last_share, exposed_ns / count FROM analysis_kvstore ORDER BY rank"),
      (Numbers{0, 3'000'000, 0, 4'000'000, 1, 0, 1, 1'000'000}));
  EXPECT_EQ(analysis.numbers(
                "SELECT exchange_bytes / exchanges, last_share, lateness_mean_ns, wait_ns / exchanges, "
                "exposed_wait_ns / exchanges FROM analysis_kvstore_rank ORDER BY rank"),
            (Numbers{4000, 0, 0, 3'000'000, 3'000'000, 4000, 1, 3'000'000, 0, 0}));
}

// Clocks that differ by an hour: the ends are taken to be the same moment.
TEST(KVStoreAnalysis, ClocksAreAlignedOnTheEnds) {
  const Analysis analysis(
      "repeat 5 10ms\n"
      "  iteration 0 1\n"
      "  op w KVStoreDistGather update 1ms 4ms on=cpu_worker_1 written=4000\n"
      "  op w KVStoreDistGather update 7ms 1ms on=cpu_worker_1 written=4000 rank=1\n"
      "end\n");
  EXPECT_EQ(analysis.numbers("SELECT last_share, lateness_mean_ns FROM analysis_kvstore_rank ORDER BY rank"),
            (Numbers{0, 0, 1, 3'000'000}));
}

// An exchange takes no thread's time: shares of operators are of those that do.
TEST(KVStoreAnalysis, ExchangesBetweenProcessesAreNoOperatorsOfTheTable) {
  const Analysis analysis(
      "iteration 0 1\n"
      "op - Convolution forward 0ms 3ms\n"
      "op w KVStoreReduce update 3ms 1ms\n"
      "op w KVStoreDistAllReduce update 4ms 6ms on=cpu_0_asynchronous written=4000\n"
      "iteration 10ms 1\n");
  EXPECT_EQ(analysis.numbers("SELECT count(*), sum(total_ns), max(share) * 100 FROM analysis_operator"),
            (Numbers{2, 4'000'000, 75}));
  EXPECT_EQ(analysis.numbers("SELECT operator_total_ns, communication_share * 100 FROM analysis_summary"),
            (Numbers{4'000'000, 70}));
  EXPECT_EQ(analysis.report.store_exchanges, 1);
  EXPECT_EQ(analysis.report.store_exchange_ns, 6'000'000);
}

// A server updates for all workers, so that it may run more operators than any of them.
TEST(KVStoreAnalysis, AServerIsNotTheProgramThatIsAnalysed) {
  const std::string worker = "op - Convolution forward 0ms 3ms rank=1\n",
                    server = "op w sgd_update update 0ms 1ms rank=2\nop v sgd_update update 2ms 1ms rank=2\n";
  const std::string serves = "span communication 0ms 1ms on=kvstore_server rank=2\n";
  const auto phases = [](const std::string& text) {
    return Analysis("iteration 0 1\n" + text + "iteration 10ms 1\n")
        .numbers("SELECT forward_share * 100, update_share * 100 FROM analysis_summary");
  };
  EXPECT_EQ(phases(worker + server + serves), (Numbers{30, 0}));
  EXPECT_EQ(phases(worker + server), (Numbers{0, 20})) << "the process with most operators";
  EXPECT_EQ(phases(server + serves), (Numbers{0, 20})) << "there is no other";
}

TEST(KVStoreAnalysis, RequestsToServersAreNotCompared) {
  const Analysis analysis(
      "repeat 5 10ms\n"
      "  iteration 0 1\n"
      "  op w KVStoreDistPush update 1ms 4ms written=4000\n"
      "  op w KVStoreDistPush update 3ms 1ms written=4000 rank=1\n"
      "end\n");
  EXPECT_EQ(analysis.numbers(
                "SELECT exchanges > 0, exchanges_compared, wait_ns FROM analysis_kvstore_rank ORDER BY rank"),
            (Numbers{1, 0, -1, 1, 0, -1}));
}

TEST(KVStoreAnalysis, WithoutAStoreTheTablesAreEmpty) {
  const Analysis analysis("repeat 5 10ms\n  op - Convolution forward 0ms 4ms\nend\n");
  EXPECT_EQ(analysis.numbers(
                "SELECT (SELECT count(*) FROM analysis_kvstore) + count(*) FROM analysis_kvstore_rank"),
            (Numbers{0}));
}

}  // namespace
}  // namespace pitwall::analysis::kvstore_test
