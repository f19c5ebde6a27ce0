// Names of inputs and outputs: what is opened, waited for, refused, claimed and removed.
#include "db/input_path.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "db/escaped.h"
#include "db/file/output_claim.h"
#include "db/unfinished.h"
#include "tests/support/read_all.h"
#include "tests/support/temp_folder.h"

namespace pitwall::input_path_test {
namespace {

namespace fs = std::filesystem;

// The message of what must fail.
template <class Value>
std::string messageOf(const Result<Value>& result) {
  return result.has_value() ? "no error" : result.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(InputPath, OfAFileIsTheFile) {
  test::TempFolder folder;
  const std::string path = folder / "a";
  std::ofstream(path) << "text";
  const auto input = inputPath(path);
  ASSERT_TRUE(input.has_value());
  EXPECT_EQ(input->path, path);
  EXPECT_EQ(input->shown, path);
  EXPECT_EQ(input->copy, nullptr);
  EXPECT_FALSE(isStream(path));
}

TEST(InputPath, OfAPipeIsACopyOfAllThatIsWrittenAlsoByALateWriter) {
  test::TempFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(isStream(path));
  const std::string text(300'000, 'x');
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the reader is there first
    std::ofstream(path) << text;
  });
  std::string copy;
  {
    const auto input = inputPath(path);
    writer.join();
    ASSERT_TRUE(input.has_value()) << input.error().message;
    copy = input->path;
    EXPECT_EQ(input->shown, path);
    EXPECT_EQ(test::readAll(copy), text);
  }
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_FALSE(fs::exists(fs::path(copy).parent_path()));
}

TEST(InputPath, WaitsForAWriterUntilItIsCancelled) {
  test::TempFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::atomic<bool> cancel = false;
  std::thread user([&] { cancel = true; });
  const auto input = inputPath(path, &cancel);
  user.join();
  ASSERT_FALSE(input.has_value());
  EXPECT_EQ(input.error().code, ErrorCode::cancelled);
}

TEST(InputPath, RefusesWhatIsNoFileWithoutOpeningIt) {
  test::TempFolder folder;
  const std::string socket_path = folder / "socket";
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(has(messageOf(inputPath(socket_path)), socket_path + ": is a socket"));
  ::close(socket);
  EXPECT_TRUE(has(messageOf(inputPath("/dev/zero")), "/dev/zero: is a device"));
  EXPECT_TRUE(has(messageOf(inputPath(folder.path().string())), ": is a folder"));
  const auto missing = inputPath(folder / "missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::notFound);
}

TEST(InputPath, SaysThatAPipeHeldNothing) {
  test::TempFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path).close(); });
  const auto input = inputPath(path);
  writer.join();
  EXPECT_TRUE(has(messageOf(input), path + ": holds nothing"));
}

TEST(Escaped, ShowsControlCharactersAndBytesThatAreNoText) {
  EXPECT_EQ(escaped("a b/\xC3\xA4 \\n"), "a b/\xC3\xA4 \\n");
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(escaped("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(escaped("\xC2\x9B"), "\\xc2\\x9b");  // a control sequence of eight-bit terminals
  EXPECT_EQ(escaped("\xFF"), "\\xff");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
}

TEST(OutputClaim, IsHeldByOneAndLeavesNoFile) {
  test::TempFolder folder;
  const std::string path = folder / "out";
  {
    const auto first = OutputClaim::take(path);
    ASSERT_TRUE(first.has_value()) << first.error().message;
    EXPECT_TRUE(has(messageOf(OutputClaim::take(path)), "another command is writing it"));
    EXPECT_TRUE(fs::exists(path + ".lock"));
  }
  EXPECT_FALSE(fs::exists(path + ".lock"));
  std::ofstream(path + ".lock").close();  // of a killed program
  EXPECT_TRUE(OutputClaim::take(path).has_value());
  EXPECT_FALSE(fs::exists(path + ".lock"));
}

TEST(OutputClaim, TakesNoFileOfAnotherProgram) {
  test::TempFolder folder;
  const std::string path = folder / "out";
  std::ofstream(path + ".lock") << "kept";
  EXPECT_TRUE(has(messageOf(OutputClaim::take(path)), "a file of another program"));
  EXPECT_EQ(test::readAll(path + ".lock"), "kept");
}

TEST(Unfinished, IsRemovedWithItsSideFilesButNeverAFolderOfThatName) {
  test::TempFolder folder;
  const std::string path = folder / "out.tmp";
  {
    const Unfinished file(path);
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::ofstream(path + suffix) << "x";
    std::ofstream(draftPath(path)) << "x";
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  fs::create_directory(path);
  std::ofstream(path + "/kept") << "x";
  { const Unfinished file(path); }
  EXPECT_TRUE(fs::exists(path + "/kept"));
}

TEST(Unfinished, IsRemovedByAProcessThatASignalEnds) {
  test::TempFolder folder;
  const Unfinished file(folder / "file");
  const Unfinished tree(folder / "tree", Unfinished::Kind::folder);
  std::ofstream(file.path()) << "x";
  fs::create_directories(tree.path() + "/below");
  const pid_t child = ::fork();
  if (child == 0) {
    removeUnfinished();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Unfinished, IsRemovedWhileThreadsMakeMoreFiles) {
  test::TempFolder folder;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Unfinished tree(folder / "tree", Unfinished::Kind::folder);
      const Unfinished file(folder / "file");
      std::atomic<int> made = 0;
      for (int maker = 0; maker < 3; ++maker) {
        std::thread([&, maker] {
          for (int i = 0;; ++i) {
            fs::create_directories(tree.path());
            std::ofstream(tree.path() + "/" + std::to_string(maker) + "." + std::to_string(i)) << "x";
            std::ofstream(draftPath(file.path()) + "-journal") << "x";
            made.fetch_add(1);
          }
        }).detach();
      }
      while (made.load() < 10) std::this_thread::yield();
      removeUnfinished();
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(fs::is_empty(folder.path())) << *fs::directory_iterator(folder.path());
  }
}

}  // namespace
}  // namespace pitwall::input_path_test
