// Drives the real `pitwall` executable on wrong arguments and files: exit codes and messages.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "db/reader.h"
#include "tests/analyzer/command.h"

namespace pitwall::cli_errors_test {
namespace {

namespace fs = std::filesystem;
using test::Command;
using test::readAll;
using testing::HasSubstr;

TEST_F(Command, UsageErrorsAreTwo) {
  EXPECT_EQ(pitwall("").code, 2);
  EXPECT_EQ(pitwall("analyze").code, 2);
  EXPECT_EQ(pitwall("analyze --format yaml " + trace_).code, 2);
  EXPECT_EQ(pitwall("frobnicate").code, 2);
  auto run = pitwall("analyze --set input/bound.colour=3 " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("it has: high_share, passing, reading, share"));
  EXPECT_EQ(pitwall("analyze --set input/bound.share=much " + trace_).code, 2);
  run = pitwall("analyze --rules /nonexistent " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("/nonexistent"));
}

TEST_F(Command, OptionsThatARunningProcessCannotHaveAreRefused) {
  for (const char* option : {"--only nccl", "--onednn", "--framework none", "--wait-all", "--keep-parts"}) {
    const auto run = pitwall(std::string("record --duration 0.1 --pid 999999999 ") + option);
    EXPECT_EQ(run.code, 2) << option;
    EXPECT_THAT(run.err, HasSubstr("--pid excludes --")) << option;
  }
  EXPECT_EQ(pitwall("record --duration 0.1 --pid 999999999").code, 127);
}

TEST_F(Command, WhatIsNoTraceIsThree) {
  auto run = pitwall("analyze " + (folder_ / "none.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("none.pitwall"));

  std::ofstream(folder_ / "text.pitwall") << "hello, this is no database\n";
  run = pitwall("analyze " + (folder_ / "text.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("text.pitwall"));

  std::ofstream(folder_ / "empty.pitwall").close();
  EXPECT_EQ(pitwall("analyze " + (folder_ / "empty.pitwall").string()).code, 3);
  fs::create_directory(folder_ / "no traces");
  run = pitwall("analyze '" + (folder_ / "no traces").string() + "'");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("no traces"));
}

TEST_F(Command, DamagedTracesAreThreeOrAnalyzedButNeverACrash) {
  const auto whole = readAll(trace_);
  for (const double part : {0.02, 0.3, 0.6, 0.9, 0.99}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    std::ofstream(folder_ / "cut.pitwall", std::ios::binary) << whole.substr(0, size);
    const auto run = pitwall("analyze --no-env " + (folder_ / "cut.pitwall").string());
    EXPECT_EQ(run.code, 3) << part << run.out;
    EXPECT_THAT(run.err, HasSubstr("cut.pitwall"));
  }
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 97) {
    auto damaged = whole;
    for (std::size_t i = at; i < std::min(at + 64, damaged.size()); ++i)
      damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    std::ofstream(folder_ / "bad.pitwall", std::ios::binary) << damaged;
    const auto run = pitwall("analyze --no-env " + (folder_ / "bad.pitwall").string());
    EXPECT_TRUE(run.code == 0 || run.code == 3) << "byte " << at << ": " << run.code << " " << run.err;
  }
}

TEST_F(Command, AForeignDatabaseAndANewerTraceAreThree) {
  // application_id is at byte 68 of a SQLite file, user_version at byte 60; both big-endian.
  auto bytes = readAll(trace_);
  std::copy_n("\x12\x34\x56\x78", 4, bytes.begin() + 68);
  std::ofstream(folder_ / "foreign.pitwall", std::ios::binary) << bytes;
  auto run = pitwall("analyze " + (folder_ / "foreign.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("foreign.pitwall"));

  bytes = readAll(trace_);
  std::copy_n("\x00\x00\x7f\x7f", 4, bytes.begin() + 60);
  std::ofstream(folder_ / "newer.pitwall", std::ios::binary) << bytes;
  run = pitwall("analyze " + (folder_ / "newer.pitwall").string());
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("newer"));
}

TEST_F(Command, AKilledRecordingIsAnalyzedAndSaysSo) {
  ASSERT_TRUE(test::makeTraceFile(std::string(test::kCommandTrace) + "incomplete\n", trace_).has_value());
  const auto run = pitwall("analyze " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("incomplete"));
}

TEST_F(Command, AnUnwritableSettingsFileIsTwoAndTheReportIsStillPrinted) {
  const auto run = pitwall("analyze --env /nonexistent/run.env " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.out, HasSubstr("input/bound"));
  EXPECT_THAT(run.err, HasSubstr("/nonexistent/run.env"));
}

TEST_F(Command, AReadOnlyFolderOnlyCostsTheSettingsAndTheSaving) {
  fs::create_directory(folder_ / "shelf");
  const auto path = folder_ / "shelf" / "run.pitwall";
  fs::copy_file(trace_, path);
  fs::permissions(path, fs::perms::owner_read);
  fs::permissions(folder_ / "shelf", fs::perms::owner_read | fs::perms::owner_exec);
  const auto run = pitwall("analyze " + path.string());
  fs::permissions(folder_ / "shelf", fs::perms::owner_all);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("input/bound"));
  if (geteuid() != 0) {  // root may write everywhere
    EXPECT_THAT(run.out, HasSubstr("not saved in the trace"));
    EXPECT_THAT(run.err, HasSubstr("run.env"));
  }
}

TEST_F(Command, AFullStandardOutputIsTwoAndSaysSo) {
  const auto err = folder_ / "err";
  for (const std::string& command :
       {"analyze --no-env " + trace_, std::string("rules list"), std::string("rules show input/bound"),
        std::string("env"), "compare " + trace_ + " " + trace_}) {
    const int status =
        std::system(fmt::format("{} {} >/dev/full 2>{}", PITWALL_COMMAND, command, err.string()).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << command;
    EXPECT_THAT(readAll(err), HasSubstr("cannot write to standard output")) << command;
  }
}

TEST_F(Command, AReportNeverReplacesATraceOrWhatIsRead) {
  const auto before = readAll(trace_);
  const auto other = (folder_ / "other.pitwall").string();
  fs::copy_file(trace_, other);
  auto run = pitwall("analyze --no-env -o " + trace_ + " " + other);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("trace or another database"));
  for (const char* command : {"analyze --no-env -o {0} {0}", "compare -o {0} {1} {0}"}) {
    run = pitwall(fmt::format(fmt::runtime(command), trace_, other));
    EXPECT_EQ(run.code, 2) << command;
    EXPECT_THAT(run.err, HasSubstr("it is the trace that is read")) << command;
  }
  EXPECT_EQ(readAll(trace_).size(), before.size());
  EXPECT_TRUE(Trace::open(trace_).has_value());
  const auto foreign = folder_ / "foreign.json";
  std::ofstream(foreign) << R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}])";
  const auto json = readAll(foreign);
  for (const char* command : {"analyze --no-env", "export"})
    EXPECT_EQ(pitwall(fmt::format("{} -o {} {}", command, foreign.string(), foreign.string())).code, 2);
  EXPECT_EQ(readAll(foreign), json);
}

TEST_F(Command, WhatContradictsItselfIsTwo) {
  const auto file = (folder_ / "x").string();
  EXPECT_THAT(pitwall("analyze --no-env --env " + file + " " + trace_).err, HasSubstr("--env excludes"));
  EXPECT_THAT(pitwall("analyze --no-env --env-format fish " + trace_).err, HasSubstr("excludes --no-env"));
  EXPECT_THAT(pitwall("analyze --env " + file + " -o " + file + " " + trace_).err,
              HasSubstr("give the settings their own file"));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_THAT(pitwall("analyze -o '' " + trace_).err, HasSubstr("an empty name"));
  EXPECT_THAT(pitwall("analyze --rule-config " + folder_.string() + " " + trace_).err,
              HasSubstr("it is a folder"));
  EXPECT_THAT(pitwall("analyze --rule-config " + file + " " + trace_).err,
              HasSubstr("there is no such file"));
  EXPECT_THAT(pitwall("rules check " + file).err, HasSubstr("there is no such file"));
  EXPECT_THAT(pitwall("compare --fail-on-regression much " + trace_ + " " + trace_).err,
              HasSubstr("'much' is not a percentage"));
  EXPECT_THAT(pitwall("frobnicate").err, HasSubstr("'frobnicate' is not a command of 'pitwall'"));
  EXPECT_THAT(pitwall("rules frob").err, HasSubstr("'frob' is not a command of 'pitwall rules'"));
}

TEST_F(Command, ABadRuleIsTwoAndNamesItsLine) {
  fs::create_directory(folder_ / "rules");
  const auto file = folder_ / "rules" / "mine.toml";
  const std::string head = "id = \"my/rule\"\ntitle = \"Mine\"\nseverity = \"low\"\n";
  const std::string tail = "verdict = \"{n} operators\"\nguard = \"never\"\n";
  std::ofstream(file) << head << "measure = \"SELECT count(*) AS n FROM analysis_operator\"\n" << tail;
  EXPECT_EQ(pitwall("rules check " + file.string()).code, 0);
  auto run = pitwall("analyze --rules " + (folder_ / "rules").string() + " " + trace_);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2 operators"));

  std::ofstream(file) << head << "measure = \"SELECT count(*) AS n FROM nowhere\"\n" << tail;
  run = pitwall("rules check " + file.string());
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("mine.toml:4: "));
  run = pitwall("analyze --rules " + (folder_ / "rules").string() + " " + trace_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("mine.toml:4: "));
}

}  // namespace
}  // namespace pitwall::cli_errors_test
