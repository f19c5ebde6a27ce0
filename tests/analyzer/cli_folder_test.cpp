// A folder of a job's traces, as the input of each command that reads one.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/analyzer/command.h"

namespace pitwall::cli_folder_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What torch.profiler writes for a rank: three steps, of which each runs an operator for half of the time.
std::string rankTrace(int rank) {
  std::string events;
  for (int step = 0; step < 3; ++step) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":{},"tid":{},"ts":{},"dur":1000}},)"
        R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":{},"tid":{},"ts":{},"dur":500}})",
        step == 0 ? "" : ",", step, 50 + rank, 50 + rank, 1000 * (step + 1), 50 + rank, 50 + rank,
        1000 * (step + 1) + 100);
  }
  return fmt::format(
      R"({{"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{{"backend":"gloo","rank":{},"world_size":2}},"traceEvents":[{}]}})",
      rank, events);
}

class Folder : public test::Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    fs::create_directory(folder_ / "job.1");
    for (int rank = 0; rank < 2; ++rank)
      std::ofstream(folder_ / "job.1" / fmt::format("host_4{}.1700000000000000001.pt.trace.json", rank))
          << rankTrace(rank);
    std::ofstream(folder_ / "job.1" / "events.out.tfevents.1700000000.host.1.0") << "not a trace";
    job_ = (folder_ / "job.1").string();
  }
  std::string job_;
};

TEST_F(Folder, IsAnalyzedAsOneJob) {
  const auto run = pitwall("analyze --format json --no-env " + job_);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("job.1 is 2 traces: PyTorch Kineto JSON, imported for this command only"));
  EXPECT_EQ(askJson(run.out, "json_extract(:json, '$.trace')"), job_);
  EXPECT_EQ(pitwall("query " + job_ + " 'SELECT rank FROM process ORDER BY rank'").out, "rank\n0\n1\n");
  EXPECT_EQ(pitwall("query " + job_ + "/ \"SELECT count(*) FROM event WHERE kind = 'operator'\"").out,
            "count(*)\n6\n");
  EXPECT_FALSE(fs::exists(job_ + ".pitwall"));
}

TEST_F(Folder, OutputsWithoutANameHaveThatOfTheFolder) {
  const std::string made = (folder_ / "made").string();
  fs::create_directory(made);
  for (const std::string name : {"../job.1", "../job.1/", "../job.1/."}) {
    for (const std::string command : {"import", "export"}) {
      const auto run = pitwall(command + " " + name, "--chdir=" + made);
      EXPECT_EQ(run.code, 0) << name << ": " << run.err;
    }
    EXPECT_TRUE(fs::remove(made + "/job.1.pitwall")) << name;
    EXPECT_TRUE(fs::remove(made + "/job.1.json")) << name;
    EXPECT_TRUE(fs::is_empty(made)) << *fs::directory_iterator(made);
  }
  std::ofstream(job_ + ".env") << "export MINE=1\n";
  EXPECT_THAT(pitwall("analyze " + job_ + "/").err, HasSubstr(job_ + ".env: exists"));
  EXPECT_EQ(std::distance(fs::directory_iterator(job_), {}), 3) << "nothing is written into the folder";
}

TEST_F(Folder, IsComparedAndIsATrial) {
  fs::copy(job_, folder_ / "job.2");
  std::ofstream(folder_ / "job.2" / "host_40.1700000000000000001.pt.trace.json") << rankTrace(2);
  EXPECT_EQ(pitwall("compare " + job_ + " " + (folder_ / "job.2").string()).code, 0);
  EXPECT_EQ(pitwall("analyze --no-env " + trace_ + " --trial " + job_).code, 0);
}

}  // namespace
}  // namespace pitwall::cli_folder_test
