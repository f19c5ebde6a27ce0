#include "db/temporary.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace pitwall::temporary_test {
namespace {

namespace fs = std::filesystem;

// The system's temporary folder is another one until the end of the test.
class OtherTemporaryFolder {
 public:
  explicit OtherTemporaryFolder(const std::string& path) {
    if (const char* before = ::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~OtherTemporaryFolder() {
    if (before_) {
      ::setenv("TMPDIR", before_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
  }
  OtherTemporaryFolder(const OtherTemporaryFolder&) = delete;
  OtherTemporaryFolder& operator=(const OtherTemporaryFolder&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(Temporary, AFolderIsRemovedWithItsContents) {
  std::string path;
  {
    auto folder = TemporaryFolder::create("a test");
    ASSERT_TRUE(folder.has_value());
    path = folder->path();
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0700U);
    std::ofstream(folder->file("a")) << "b";
    EXPECT_TRUE(fs::exists(path + "/a"));
    const TemporaryFolder moved = std::move(*folder);
    EXPECT_EQ(moved.path(), path);
    *folder = TemporaryFolder();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Temporary, AnUnnamedFileLeavesNothingBehind) {
  const auto parent = TemporaryFolder::create("a test");
  ASSERT_TRUE(parent.has_value());
  const OtherTemporaryFolder other(parent->path());
  const auto file = openUnnamedFile("a test");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(::write(*file, "x", 1), 1);
  EXPECT_TRUE(fs::is_empty(parent->path()));
  ::close(*file);
}

TEST(Temporary, AFailureNamesPlacePurposeAndRemedy) {
  const OtherTemporaryFolder other("/proc");  // where no user may create files, root included
  const std::string reason =
      " in '/proc' for a test: No such file or directory; set TMPDIR to a folder that you may write";
  const auto folder = TemporaryFolder::create("a test");
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().message, "cannot create a folder" + reason);
  const auto file = openUnnamedFile("a test");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().message, "cannot create a file" + reason);
}

}  // namespace
}  // namespace pitwall::temporary_test
