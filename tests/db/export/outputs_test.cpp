// What a command may write to: a regular file or a name that is free. Everything else stays what it is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "db/export.h"
#include "db/import.h"
#include "db/reader.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"

namespace pitwall::outputs_test {
namespace {

namespace fs = std::filesystem;

enum class Object { device, pipe, socket, folder };

std::string nameOf(Object object) {
  constexpr const char* kNames[] = {"device", "pipe", "socket", "folder"};
  return kNames[static_cast<int>(object)];
}

// False: the system does not permit it.
bool make(Object object, const std::string& path) {
  switch (object) {
    case Object::device: return ::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;  // as /dev/null
    case Object::pipe: return ::mkfifo(path.c_str(), 0666) == 0;
    case Object::folder: return ::mkdir(path.c_str(), 0777) == 0;
    case Object::socket: break;
  }
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const bool bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return bound;
}

void writeTrace(const std::string& path) {
  auto sink = createTrace(path).value();
  const ProcessId process = sink->process({1, "program", "program", 0});
  const TrackId track =
      sink->track({TrackKind::thread, process, sink->thread({process, 1, "main"}), {}, "", ""});
  Event event;
  event.name = sink->string("range");
  event.dur_ns = 10;
  sink->events(track, {&event, 1});
  ASSERT_TRUE(sink->finish().has_value());
}

struct Case {
  Object object;
  bool through_link;
};

class Outputs : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    trace = folder / "trace.pitwall";
    writeTrace(trace);
    object = folder / "object";
    if (!make(GetParam().object, object))
      GTEST_SKIP() << "this user may not make a " << nameOf(GetParam().object);
    output = object;
    if (!GetParam().through_link) return;
    output = folder / "link";
    fs::create_symlink(object, output);
  }

  void expectUnchanged(const Status& status) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::invalidInput);
    EXPECT_NE(status.error().message.find(output), std::string::npos) << status.error().message;
    EXPECT_NE(status.error().message.find("choose another"), std::string::npos) << status.error().message;
    EXPECT_EQ(fs::is_symlink(output), GetParam().through_link);
    EXPECT_FALSE(fs::is_regular_file(object));
    EXPECT_TRUE(fs::exists(object));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++files;
    EXPECT_EQ(files, GetParam().through_link ? 3U : 2U);
  }

  test::TempFolder folder;
  std::string trace, object, output;
};

template <class Value>
Status statusOf(const Result<Value>& result) {
  return result.has_value() ? Status() : Status(fail(result.error()));
}

TEST_P(Outputs, AreNotReplacedByAnImport) {
  const std::string inputs[] = {trace};
  expectUnchanged(statusOf(importToFile(inputs, output)));
}

TEST_P(Outputs, AreNotReplacedByARecording) { expectUnchanged(statusOf(createTrace(output))); }

TEST_P(Outputs, AreNotReplacedByAnExportedDatabase) {
  auto opened = Trace::open(trace).value();
  for (const ExportFormat format : {ExportFormat::pitwall, ExportFormat::rows}) {
    ExportOptions options;
    options.format = format;
    expectUnchanged(statusOf(exportTrace(*opened, output, options)));
  }
}

TEST_P(Outputs, AreNotWrittenByAnExportedText) {
  auto opened = Trace::open(trace).value();
  for (const ExportFormat format : {ExportFormat::chrome, ExportFormat::mxnet, ExportFormat::csv}) {
    ExportOptions options;
    options.format = format;
    if (format == ExportFormat::csv) options.table = "track";
    expectUnchanged(statusOf(exportTrace(*opened, output, options)));
  }
}

TEST_P(Outputs, AreNotWrittenByAReport) { expectUnchanged(replaceFile(output, "a report")); }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Object object : {Object::device, Object::pipe, Object::socket, Object::folder}) {
    all.push_back({object, false});
    all.push_back({object, true});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Outputs, testing::ValuesIn(cases()), [](const auto& param_info) {
  return nameOf(param_info.param.object) + (param_info.param.through_link ? "_through_a_link" : "");
});

// A link to a file stays a link, and the file gets the content.
TEST(OutputLinks, StayLinks) {
  test::TempFolder folder;
  const std::string trace = folder / "trace.pitwall", link = folder / "link";
  writeTrace(trace);
  fs::create_directory(folder / "elsewhere");
  fs::create_symlink("elsewhere/file", link);
  const std::string inputs[] = {trace};
  auto opened = Trace::open(trace).value();
  ASSERT_TRUE(importToFile(inputs, link).has_value());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_regular_file(folder / "elsewhere/file"));
  for (const ExportFormat format : {ExportFormat::pitwall, ExportFormat::rows}) {
    ExportOptions options;
    options.format = format;
    ASSERT_TRUE(exportTrace(*opened, link, options).has_value());
    EXPECT_TRUE(fs::is_symlink(link));
  }
  fs::remove(folder / "elsewhere/file");
  ASSERT_TRUE(replaceFile(link, "text").has_value());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::file_size(folder / "elsewhere/file"), 4U);
}

// The log of a killed recording would be taken for that of the new database.
TEST(OutputDatabase, TakesThePlaceOfAKilledRecordingWithItsLog) {
  test::TempFolder folder;
  const std::string trace = folder / "trace.pitwall", killed = folder / "killed.pitwall";
  writeTrace(trace);
  {  // copied while it is open, a trace is as a kill leaves it
    auto sink = createTrace(folder / "open.pitwall").value();
    for (int i = 0; i < 100; ++i) sink->meta("key", std::to_string(i));
    ASSERT_TRUE(sink->flush().has_value());
    for (const char* suffix : {"", "-wal"}) fs::copy_file(folder / "open.pitwall" + suffix, killed + suffix);
  }
  ASSERT_GT(fs::file_size(killed + "-wal"), 0U);
  auto opened = Trace::open(trace).value();
  ExportOptions options;
  options.format = ExportFormat::pitwall;
  ASSERT_TRUE(exportTrace(*opened, killed, options).has_value());
  EXPECT_FALSE(fs::exists(killed + "-wal"));
  const auto made = Trace::open(killed);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE((*made)->isComplete());
  EXPECT_EQ((*made)->tracks().size(), 1U);
}

TEST(OutputDatabase, DoesNotTakeThePlaceOfARecordingThatGoesOn) {
  test::TempFolder folder;
  const std::string trace = folder / "trace.pitwall", live = folder / "live.pitwall";
  writeTrace(trace);
  auto sink = createTrace(live).value();
  auto opened = Trace::open(trace).value();
  for (const ExportFormat format : {ExportFormat::pitwall, ExportFormat::rows}) {
    ExportOptions options;
    options.format = format;
    const auto summary = exportTrace(*opened, live, options);
    ASSERT_FALSE(summary.has_value());
    EXPECT_NE(summary.error().message.find("being recorded"), std::string::npos) << summary.error().message;
  }
  EXPECT_TRUE(sink->finish().has_value());
}

}  // namespace
}  // namespace pitwall::outputs_test
