// What commands read and write: "-", pipes, what is no file, and the exit codes for each; names with control characters.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/analyzer/command.h"

namespace pitwall::cli_streams_test {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using test::readAll;
using testing::HasSubstr;
using testing::Not;

constexpr char kJson[] = R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}])";

class Streams : public test::Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    std::ofstream(at("a.json")) << kJson;
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  // A line of the shell, {0} being the command.
  Ended shell(const std::string& line) {
    const std::string out = at("out"), err = at("err");
    const int status = std::system(fmt::format("cd {} && {{ {} ; }} >{} 2>{}", folder_.string(),
                                               fmt::format(fmt::runtime(line), PITWALL_COMMAND), out, err)
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readAll(out), readAll(err)};
  }
};

TEST_F(Streams, StandardInputIsReadByEachCommand) {
  for (const char* line :
       {"cat a.json | {0} import - -o made.pitwall", "{0} import - -o made.pitwall <a.json",
        "cat a.json | gzip | {0} import /dev/stdin -o made.pitwall",
        "cat run.pitwall | {0} import - -o made.pitwall", "cat a.json | {0} export - -o -",
        "cat run.pitwall | {0} export - -o -", "cat run.pitwall | {0} analyze -",
        "cat run.pitwall | {0} analyze --format json -o - -", "cat a.json | {0} query - 'SELECT 1'",
        "cat run.pitwall | {0} query - 'SELECT count(*) FROM event'",
        "echo 'SELECT 1' | {0} query run.pitwall -",
        "cp run.pitwall b.pitwall; cat a.json | {0} compare run.pitwall -"}) {
    const auto run = shell(line);
    EXPECT_EQ(run.code, 0) << line << ": " << run.err;
    EXPECT_FALSE(run.out.empty()) << line;
    EXPECT_FALSE(fs::exists(at("-"))) << line;
    EXPECT_FALSE(fs::exists(at("-.env"))) << line;
  }
  EXPECT_EQ(shell("cat a.json | {0} import -").code, 0);
  EXPECT_TRUE(Trace::open(at("stdin.pitwall")).has_value());
  EXPECT_THAT(shell("cat run.pitwall | {0} analyze -").out, HasSubstr("name a file with --env"));
  EXPECT_THAT(shell("echo 'SELECT 1' | {0} query - -").err, HasSubstr("not both"));
}

TEST_F(Streams, StandardOutputGetsDatabasesToo) {
  for (const char* line :
       {"{0} import a.json -o - >made", "{0} export run.pitwall --format pitwall -o - >made",
        "cat a.json | {0} import - -o - | cat >made",
        "{0} import a.json -o - | {0} export - --format pitwall -o - >made"}) {
    const auto run = shell(line);
    EXPECT_EQ(run.code, 0) << line << ": " << run.err;
    const auto trace = Trace::open(at("made"));
    ASSERT_TRUE(trace.has_value()) << line << ": " << trace.error().message;
    EXPECT_TRUE((*trace)->isComplete()) << line;
    fs::remove(at("made"));
  }
  EXPECT_EQ(shell("{0} export run.pitwall --rows -o - | head -c 15").out, "SQLite format 3");
  EXPECT_THAT(shell("{0} record -o - -- true").err, HasSubstr("name a file with -o"));
}

// Not a trace, in each way, for each command that reads one.
TEST_F(Streams, WhatIsNoTraceIsThreeForEachCommand) {
  std::ofstream(at("text")) << "no trace\n";
  std::ofstream(at("empty")).close();
  std::ofstream(at("cut"), std::ios::binary) << readAll(trace_).substr(0, 5000);
  fs::create_directory(at("folder"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  for (const std::string input :
       {"missing", "text", "empty", "cut", "folder", "socket", "/dev/zero", "- </dev/null"}) {
    for (const char* command : {"analyze --no-env {}", "compare run.pitwall {}", "export -o made {}",
                                "query {} 'SELECT 1'", "import -o made {}"}) {
      const std::string line = fmt::format(fmt::runtime(command), input);
      const auto run = shell("{0} " + line);
      EXPECT_EQ(run.code, 3) << line << ": " << run.err;
      EXPECT_THAT(run.err, HasSubstr(input[0] == '-' ? "standard input" : input)) << line;
      EXPECT_FALSE(fs::exists(at("made"))) << line;
    }
  }
}

TEST_F(Streams, WhatIsNoFileIsNotWritten) {
  fs::create_directory(at("folder"));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", at("link"));
  std::string other = test::kCommandTrace;
  other.replace(other.find("12 6ms"), 2, "13");
  ASSERT_TRUE(test::makeTraceFile(other, at("run2.pitwall")).has_value());
  for (const std::string output : {"folder", "pipe", "link", "/dev/full", "missing/made", ""}) {
    for (const char* command :
         {"analyze --no-env -o '{}' run.pitwall", "analyze --format html --no-env -o '{}' run.pitwall",
          "analyze --env '{}' run.pitwall", "compare run.pitwall run2.pitwall -o '{}'",
          "import a.json -o '{}'", "export run.pitwall -o '{}'", "export run.pitwall --rows -o '{}'",
          "export run.pitwall --format pitwall -o '{}'", "export run.pitwall --format mxnet -o '{}'",
          "export run.pitwall --format csv --table track -o '{}'", "record -o '{}' -- true"}) {
      const std::string line = fmt::format(fmt::runtime(command), output);
      const auto run = shell("{0} " + line);
      EXPECT_EQ(run.code, 2) << line << ": " << run.err;
      EXPECT_THAT(run.err, HasSubstr(output)) << line;
    }
  }
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
  EXPECT_TRUE(fs::is_symlink(at("link")));
}

TEST_F(Streams, AFullStandardOutputIsTwo) {
  for (const std::string command : {"import a.json -o -", "import a.json -o made", "export run.pitwall -o -",
                                    "export run.pitwall -o made.json", "export run.pitwall --rows -o -",
                                    "analyze --no-env -o - run.pitwall", "--help", "--version",
                                    "query run.pitwall --schema", "query run.pitwall 'SELECT 1'",
                                    "query run.pitwall 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x "
                                    "+ 1 FROM c LIMIT 100000) SELECT x FROM c'"}) {
    const auto run = shell("{0} " + command + " >/dev/full");
    EXPECT_EQ(run.code, 2) << command << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr("standard output")) << command;
  }
}

// The name of an output within that of the input does not make it the output's fault.
TEST_F(Streams, ABadInputIsThreeWhateverTheNameOfTheOutput) {
  std::ofstream(at("bad.json")) << "[{";
  const auto run = shell("{0} import bad.json -o bad");
  EXPECT_EQ(run.code, 3) << run.err;
}

TEST_F(Streams, ControlCharactersInNamesAreEscaped) {
  const std::string name = "a\x1b[31m\nb";
  fs::copy_file(trace_, at(name + ".pitwall"));
  std::ofstream(at(name + ".json")) << kJson;
  std::ofstream(at(name + ".bad")) << "no trace";
  std::ofstream(at(name + ".toml")) << "id = ";
  fs::create_directory(at(name + ".folder"));
  const std::string quoted = "'" + name;
  for (const std::string& command :
       {"analyze --no-env " + quoted + ".pitwall'", "analyze " + quoted + ".pitwall'",
        "analyze " + quoted + ".json'", "compare " + quoted + ".pitwall' " + quoted + ".pitwall'",
        "export " + quoted + ".pitwall'", "import " + quoted + ".json'",
        "import " + quoted + ".pitwall' a.json -o " + quoted + ".out'",
        "query " + quoted + ".json' 'SELECT 1'", "record -o " + quoted + ".record' -- true",
        "rules check " + quoted + ".toml'"}) {
    const auto run = shell("{0} " + command);
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("\x1b"))) << command;
    EXPECT_THAT(run.err, Not(HasSubstr("\nb"))) << command;
  }
  for (const char* kind : {".missing", ".bad", ".folder"}) {
    const std::string file = quoted + kind + "'";
    for (const std::string& command :
         {"analyze " + file, "compare run.pitwall " + file, "export " + file, "import " + file,
          "query " + file + " 'SELECT 1'", "rules check " + file, "rules list --rules " + file,
          "analyze run.pitwall --rule-config " + file, "analyze run.pitwall -o " + file,
          "export run.pitwall --rows -o " + file, "import a.json -o " + file,
          "export run.pitwall --format " + file, "record -o " + file + "/x -- true", "record -- " + file}) {
      const auto run = shell("{0} " + command);
      EXPECT_THAT(run.out + run.err, Not(HasSubstr("\x1b"))) << command;
      EXPECT_THAT(run.err, Not(HasSubstr("\nb"))) << command;
    }
  }
}

}  // namespace
}  // namespace pitwall::cli_streams_test
