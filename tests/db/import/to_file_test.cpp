// Into a trace file and back, and inputs that were damaged at random.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <random>

#include "db/reader.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::to_file_test {
namespace {

const char kTrace[] = R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":10,"dur":9,"args":{"Input Dims":[[2,3]],"Input type":["float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":12,"dur":2,"args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":14,"dur":2,"args":{"device":0,"stream":7,"correlation":5}},
{"name":"q","ph":"C","ts":11,"pid":5,"args":{"value":9}},
{"name":"a","cat":"n","ph":"b","ts":10,"id":1,"pid":5},{"name":"a","cat":"n","ph":"e","ts":17,"id":1,"pid":5},
{"name":"B","ph":"B","ts":30,"pid":5,"tid":6},{"ph":"E","ts":35,"pid":5,"tid":6}]})";

std::size_t filesIn(const std::string& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST(ImportToFile, WhatWasReadIsInTheFile) {
  const TemporaryFile input(kTrace);
  const std::string output = input.folder() + "/out.pitwall";
  const std::vector<std::string> inputs = {input.path()};
  const auto summary = importToFile(inputs, output);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(filesIn(input.folder()), 2U);
  auto trace = Trace::open(output);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_TRUE((*trace)->isComplete());
  std::int64_t events = 0;
  for (std::uint32_t id = 1; id <= (*trace)->tracks().size(); ++id) {
    auto some = (*trace)->events(TrackId{id});
    ASSERT_TRUE(some.has_value());
    events += static_cast<std::int64_t>(some->size());
  }
  EXPECT_EQ(events, summary->totalEvents());
  EXPECT_EQ(events, 5);
  auto edges = (*trace)->dependencies();
  ASSERT_TRUE(edges.has_value());
  EXPECT_EQ(edges->size(), 1U);
  EXPECT_NE((*trace)->meta("import.summary")->find("PyTorch Kineto JSON"), std::string::npos);
  // Once more over the first.
  EXPECT_TRUE(importToFile(inputs, output).has_value());
}

TEST(ImportToFile, FailureLeavesNothingAndHarmsNothing) {
  const TemporaryFile input("no trace at all");
  const std::vector<std::string> inputs = {input.path()};
  EXPECT_FALSE(importToFile(inputs, input.folder() + "/out.pitwall").has_value());
  EXPECT_EQ(filesIn(input.folder()), 1U);
  const TemporaryFile precious("a letter", "letter.txt");
  const auto refused = importToFile(inputs, precious.path());
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("a file that is not a trace, which is not replaced"),
            std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(precious.path()), 8U);
  const TemporaryFile good(kTrace);
  const std::vector<std::string> good_inputs = {good.path()};
  EXPECT_EQ(importToFile(good_inputs, "/nowhere/out.pitwall").error().code, ErrorCode::io);
}

TEST(ImportToFile, InterruptionLeavesNothing) {
  const TemporaryFile input(kTrace);
  std::atomic<bool> cancel = true;
  ImportOptions options;
  options.cancel = &cancel;
  const std::vector<std::string> inputs = {input.path()};
  const auto summary = importToFile(inputs, input.folder() + "/out.pitwall", options);
  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().code, ErrorCode::cancelled);
  EXPECT_EQ(filesIn(input.folder()), 1U);
}

// A kill in the middle: no file under the requested name, and the temporary file is marked incomplete.
TEST(ImportToFile, AKillLeavesNoTraceThatLooksWhole) {
  std::string text = "[";
  for (int i = 0; text.size() < 8'000'000; ++i) {
    text += "{\"name\":\"event " + std::to_string(i % 100) + "\",\"ph\":\"X\",\"ts\":" + std::to_string(i) +
            ",\"dur\":1,\"pid\":1,\"tid\":1},\n";
  }
  const TemporaryFile input(text);
  const std::string output = input.folder() + "/out.pitwall";
  const pid_t child = ::fork();
  if (child == 0) {
    ImportOptions options;
    options.progress = [](const ImportProgress& progress) {
      if (progress.done_bytes > 4'000'000) ::kill(::getpid(), SIGKILL);
    };
    const std::vector<std::string> inputs = {input.path()};
    [[maybe_unused]] const auto summary = importToFile(inputs, output, options);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the import was over before it could be killed";
  EXPECT_FALSE(std::filesystem::exists(output));
  const std::string temporary = output + ".tmp";
  if (std::filesystem::exists(temporary) && std::filesystem::file_size(temporary) > 0) {
    auto trace = Trace::open(temporary);
    EXPECT_TRUE(!trace.has_value() || !(*trace)->isComplete());
  }
  // The next import is not affected.
  const TemporaryFile small(kTrace);
  const std::vector<std::string> inputs = {small.path()};
  EXPECT_TRUE(importToFile(inputs, output).has_value());
  EXPECT_TRUE((*Trace::open(output))->isComplete());
}

TEST(ImportToFile, OwnTracesAreInputsToo) {
  const TemporaryFile input(kTrace);
  const std::string output = input.folder() + "/out.pitwall";
  const std::vector<std::string> inputs = {input.path()};
  ASSERT_TRUE(importToFile(inputs, output).has_value());
  const auto first = importFiles({input.path()});
  const auto again = importFiles({output});
  ASSERT_EQ(again->error, "");
  EXPECT_EQ(again->summary.inputs.at(0).format, "Pitwall trace");
  EXPECT_EQ(again->summary.events, first->summary.events);
  EXPECT_EQ(again->summary.end_ns, first->summary.end_ns);
  EXPECT_EQ(again->only("k").start_ns, first->only("k").start_ns);
  EXPECT_EQ(again->track(again->named("k").front().first).name,
            first->track(first->named("k").front().first).name);
  EXPECT_EQ(again->sink.facts, first->sink.facts);
}

// Bytes replaced, removed and repeated: a result each time, with consistent sums.
TEST(ImportDamage, RandomChangesNeverConfuseIt) {
  std::mt19937 random(1);
  const std::string seeds[] = {
      kTrace,
      "onednn_verbose,v1,1700000000000.5,primitive,exec,cpu,reorder,jit,undef,src:f32::blocked:ab::f0,,,2x2,"
      "0.25\n"
      "MKL_VERBOSE SGEMM(T,N,12) 8.93ms CNR:OFF\n",
      ",{\"name\":\"x\",\"cat\":\"operator\",\"ph\":\"B\",\"ts\":1,\"pid\":0,\"tid\":2}\n",
      "Profile Statistics.\noperator\n=====\nName  Total Count  Time (ms)\n----\nx  2  1.0  1.0  1.0  1.0\n"};
  for (const std::string& seed : seeds) {
    for (int round = 0; round < 400; ++round) {
      std::string text = seed;
      const int changes = 1 + static_cast<int>(random() % 6);
      for (int i = 0; i < changes && !text.empty(); ++i) {
        const std::size_t at = random() % text.size();
        switch (random() % 4) {
          case 0: text[at] = "{}[]\",:\\0e-\n\xff"[random() % 13]; break;
          case 1: text.erase(at, 1 + random() % 20); break;
          case 2: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
          default: text[at] = static_cast<char>(random()); break;
        }
      }
      SCOPED_TRACE(text);
      const auto imported = importText(text);
      if (imported->error.empty()) {
        EXPECT_EQ(static_cast<std::size_t>(imported->summary.totalEvents()),
                  imported->sink.all_events.size());
      }
    }
  }
}

}  // namespace
}  // namespace pitwall::test::to_file_test
