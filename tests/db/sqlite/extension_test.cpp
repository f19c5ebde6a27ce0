// The loadable extension in plain SQLite: through its C interface and in its shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdio>
#include <string>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::extension_test {
namespace {

using ::testing::HasSubstr;

class Extension : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_ / "a.pitwall";
    writeTrace(path_, makeRandomTrace({.seed = 51}), {.chunk_events = 300});
  }

  // The first column of every row, one per line, by the extension in this process.
  std::string ask(const std::string& path, const std::string& sql) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_enable_load_extension(database, 1);
    char* message = nullptr;
    std::string answer;
    if (sqlite3_load_extension(database, PITWALL_EXTENSION, nullptr, &message) != SQLITE_OK) {
      answer = message;
      sqlite3_free(message);
    } else {
      sqlite3_stmt* statement = nullptr;
      EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
          << sqlite3_errmsg(database);
      while (sqlite3_step(statement) == SQLITE_ROW)
        answer += std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0))) + '\n';
      sqlite3_finalize(statement);
    }
    EXPECT_EQ(sqlite3_close(database), SQLITE_OK) << "statements are left open";
    return answer;
  }

  std::string askOurselves(const std::string& sql) {
    std::string answer;
    for (const auto& row : mustQuery(*mustOpen(path_), sql).rows)
      answer += std::to_string(std::get<std::int64_t>(row.at(0))) + '\n';
    return answer;
  }

  TempFolder folder_;
  std::string path_;
};

TEST_F(Extension, AnswersAsTheLibraryDoes) {
  for (const std::string sql :
       {"SELECT count(*) FROM event",
        "SELECT dur_ns FROM event WHERE track = 2 AND start_ns < 200000 ORDER BY id",
        "SELECT count FROM event_stats(1) ORDER BY name, kind", "SELECT busy_ns FROM event_busy(3)",
        "SELECT overlap_ns FROM event_overlap(1, 2)", "SELECT total_ns FROM event_lod(1, 0, 1000000, 50)",
        "SELECT source FROM dependency ORDER BY source, target", "SELECT count(*) FROM counter"}) {
    const std::string answer = ask(path_, sql);
    EXPECT_FALSE(answer.empty());
    EXPECT_EQ(answer, askOurselves(sql)) << sql;
  }
}

TEST_F(Extension, SaysWhatIsNotATrace) { EXPECT_THAT(ask(":memory:", ""), HasSubstr("not a Pitwall trace")); }

#ifdef PITWALL_SQLITE_SHELL
TEST_F(Extension, WorksInTheShell) {
  const std::string command = std::string(PITWALL_SQLITE_SHELL) + " -cmd '.load " + PITWALL_EXTENSION +
                              "' '" + path_ + "' 'SELECT count(*) FROM event' 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char text[200] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, pipe);
  EXPECT_EQ(::pclose(pipe), 0) << text;
  EXPECT_EQ(std::string(text, size), askOurselves("SELECT count(*) FROM event"));
}
#endif

}  // namespace
}  // namespace pitwall::test::extension_test
