// `pitwall tune` on small programs whose answer is known.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "db/ledger.h"
#include "tests/analyzer/command.h"

namespace pitwall::cli_tune_test {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using test::readAll;
using testing::HasSubstr;
using testing::Not;

class Tune : public test::Command {
 protected:
  // A script of the shell.
  std::string script(const std::string& name, const std::string& lines) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << lines;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  std::string planted() {
    return script("planted.sh",
                  "case \"${A:-1}\" in 4) s=200;; *) s=100;; esac\n"
                  "echo \"Speed: $s\"\n");
  }
  Ended tune(const std::string& arguments, const std::string& program) {
    return pitwall(fmt::format("tune --wait 0 -o {} {} -- {}", (folder_ / "t").string(), arguments, program),
                   "XDG_DATA_HOME=" + folder_.string());
  }
  std::string best() { return readAll((folder_ / "t" / "best.env").string()); }
};

constexpr char kSpeed[] = "--metric 'Speed: ([0-9.]+)'";

TEST_F(Tune, FindsAPlantedSettingAndWritesIt) {
  const Ended ended = tune(fmt::format("{} --param A=2,4", kSpeed), planted());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Best: A=4, 2 times as fast"));
  EXPECT_THAT(best(), HasSubstr("export A=4\n"));
  EXPECT_TRUE(fs::exists(folder_ / "t" / "first.pitwall"));
  EXPECT_TRUE(fs::exists(folder_ / "t" / "best.pitwall"));
}

TEST_F(Tune, PrintsJsonForPrograms) {
  const Ended ended = tune(fmt::format("-q --format json {} --param A=2,4", kSpeed), planted());
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::ofstream(folder_ / "result.json") << ended.out;
  const std::string read = fmt::format(
      "python3 -c 'import json; r = json.load(open(\"{}\")); print(r[\"best\"], len(r[\"rows\"]), "
      "[x[\"ratio\"] for x in r[\"rows\"] if x[\"kept\"]], r[\"rows\"][0][\"rule\"], r[\"runs\"] > 6)' > {}",
      (folder_ / "result.json").string(), (folder_ / "read").string());
  ASSERT_EQ(std::system(read.c_str()), 0) << ended.out;
  EXPECT_EQ(readAll((folder_ / "read").string()), "A=4 2 [2] None True\n");
  EXPECT_THAT(tune("--format yaml", "true").err, HasSubstr("yaml"));
}

TEST_F(Tune, PutsParametersIntoTheCommandLine) {
  const std::string program = script("batch.sh", "echo \"Speed: $1\"\n");
  const Ended ended = tune(fmt::format("{} --param BATCH=16,64", kSpeed), program + " '{BATCH}'");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Best: BATCH=64, 4 times as fast"));
  EXPECT_THAT(ended.out, HasSubstr("batch.sh 64\n"));
  EXPECT_THAT(best(), HasSubstr("# In the command line: BATCH=64"));
  EXPECT_THAT(best(), Not(HasSubstr("export")));
}

TEST_F(Tune, FailingTrialsAreResultsWithTheirCause) {
  const std::string program = script("fails.sh",
                                     "case \"${A:-1}\" in\n"
                                     "2) echo broken; exit 3;;\n"
                                     "3) echo hello; exit 0;;\n"
                                     "4) sleep 30;;\n"
                                     "5) kill -SEGV $$;;\n"
                                     "esac\n"
                                     "echo \"Speed: 100\"\n");
  const Ended ended = tune(fmt::format("{} --param A=2..5 --timeout 0.5", kSpeed), program);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("failed: exit code 3; its last line: broken"));
  EXPECT_THAT(ended.out, HasSubstr("failed: printed nothing that --metric matches"));
  EXPECT_THAT(ended.out, HasSubstr("failed: did not end within 0.5 s and was ended"));
  EXPECT_THAT(ended.out, HasSubstr("failed: ended by signal 11"));
  EXPECT_THAT(ended.out, HasSubstr("Keep the program as it is"));
}

TEST_F(Tune, AProgramWithoutItsMetricIsAnError) {
  const Ended ended = tune(fmt::format("{} --param A=2", kSpeed), script("none.sh", "echo nothing\n"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("the unchanged program printed nothing that --metric"));
}

TEST_F(Tune, BadArgumentsAreNamedWithTheirRemedy) {
  EXPECT_THAT(tune("--param A", "true").err, HasSubstr("write NAME=1..8 or NAME=16,32,64"));
  EXPECT_THAT(tune("--metric 'Speed'", "true").err, HasSubstr("put the number into parentheses"));
  EXPECT_THAT(tune("--metric '('", "true").err, HasSubstr("not a regular expression"));
  EXPECT_THAT(tune("--budget soon", "true").err, HasSubstr("write a time such as 90s, 30m or 2h"));
  EXPECT_THAT(pitwall("tune").err, HasSubstr("name the program after --"));
}

TEST_F(Tune, DoesNotKeepWhatMakesTheResultWorse) {
  const std::string program = script("accuracy.sh",
                                     "if [ \"${A:-1}\" = 2 ]; then echo \"Speed: 200\"; echo accuracy 0.90;\n"
                                     "else echo \"Speed: 100\"; echo accuracy 0.92; fi\n");
  const Ended ended =
      tune(fmt::format("{} --param A=2 --keep 'accuracy ([0-9.]+)' --within 0.5%", kSpeed), program);
  EXPECT_THAT(ended.out, HasSubstr("faster, but the metric to keep is worse by more than 0.5 %"));
  EXPECT_THAT(ended.out, HasSubstr("Keep the program as it is"));
}

TEST_F(Tune, TrialsRunWhereTheUserSays) {
  const std::string program = script("writes.sh", "pwd > here\necho \"Speed: 100\"\n");
  const std::string where = (folder_ / "work").string();
  const Ended ended = tune(fmt::format("{} --param A=2 --workdir '{}/{{TRIAL}}'", kSpeed, where), program);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(readAll(where + "/first/here"), where + "/first\n");
  EXPECT_EQ(readAll(where + "/0001/here"), where + "/0001\n");
}

TEST_F(Tune, PrintsHowRightPredictionsWere) {
  const std::string home = "XDG_DATA_HOME=" + folder_.string();
  EXPECT_THAT(pitwall("tune --ledger", home).out, HasSubstr("no predictions yet"));
  const LedgerRow row{1,    "cpu", "train", "batch/can-grow", "fit", "B=64", 1.0, 1.44, 1.32, 1.3,
                      1.35, 9,     "kept"};
  ASSERT_TRUE(addToLedger((folder_ / "pitwall/ledger.sqlite").string(), {&row, 1}).has_value());
  const Ended ended = pitwall("tune --ledger", home);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.out,
      HasSubstr("batch/can-grow                                1          100 %        10.0 %     1.32x"));
}

// Kills the command while it runs; the trials so far stay, and the next call goes on from them.
TEST_F(Tune, ContinuesAfterItWasKilled) {
  const std::string program =
      script("slow.sh", "echo run >> " + (folder_ / "count").string() +
                            "\nsleep 0.02\ncase \"${A:-1}\" in 4) s=200;; *) s=100;; esac\n"
                            "echo \"Speed: $s\"\n");
  const std::string runs = (folder_ / "t" / "runs.tsv").string();
  const auto lines = [&] {
    const std::string text = readAll(runs);
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int kill_at = 5; kill_at <= 9; kill_at += 4) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string line =
          fmt::format("exec {} tune -q --wait 0 -o {} {} --param A=2,4 -- {} >/dev/null 2>&1",
                      PITWALL_COMMAND, (folder_ / "t").string(), kSpeed, program);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 2000 && lines() < kill_at; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_GE(lines(), kill_at);
  }
  const auto before = lines();
  const Ended ended = tune(fmt::format("{} --param A=2,4", kSpeed), program);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("continues the search"));
  EXPECT_THAT(ended.out, HasSubstr("Best: A=4, 2 times as fast"));
  EXPECT_GT(lines(), before);
  EXPECT_THAT(tune(fmt::format("{} --param A=2,4", kSpeed), program).err, Not(HasSubstr("continues")));
}

// What a killed search leaves running would disturb the measurements of the next one.
TEST_F(Tune, EndsWhatAKilledSearchLeftRunning) {
  const std::string process = (folder_ / "process").string();
  const std::string program = script("long.sh", "sleep 300 &\necho $! > " + process + "\nwait\n");
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(PITWALL_COMMAND, "pitwall", "tune", "-q", "-o", (folder_ / "t").c_str(), "--", program.c_str(),
            nullptr);
    ::_exit(127);
  }
  for (int i = 0; i < 2000 && readAll(process).find('\n') == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const std::string left = "/proc/" + std::to_string(std::stoi(readAll(process))) + "/stat";
  // The shell names the process before the process has become `sleep`.
  for (int i = 0; i < 2000 && readAll(left).find("(sleep)") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_THAT(readAll(left), HasSubstr("(sleep)"));
  const Ended ended = tune("--timeout 0.2", program);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("did not end within 0.2 s and was ended"));
  EXPECT_THAT(readAll(left), testing::AnyOf(testing::IsEmpty(), HasSubstr(") Z ")));
}

TEST_F(Tune, InterruptedItEndsWithWhatIsKnownAndContinuesLater) {
  const std::string program = script("waits.sh", "sleep 0.05\necho \"Speed: $((100 * ${A:-1}))\"\n");
  const std::string runs = (folder_ / "t" / "runs.tsv").string();
  const std::string out = (folder_ / "out2").string();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string line = fmt::format("exec {} tune -q --wait 0 -o {} {} --param A=2,4 -- {} >{} 2>&1",
                                         PITWALL_COMMAND, (folder_ / "t").string(), kSpeed, program, out);
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  for (int i = 0; i < 2000 && readAll(runs).find("\nconfirm\t") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_THAT(readAll(out), HasSubstr("ended early: it was interrupted"));
  EXPECT_THAT(tune(fmt::format("{} --param A=2,5", kSpeed), program).err,
              HasSubstr("has an unfinished search of another program or with other options"));
  EXPECT_EQ(tune(fmt::format("{} --param A=2,4 --runs 8", kSpeed), program).code, 0);
}

}  // namespace
}  // namespace pitwall::cli_tune_test
