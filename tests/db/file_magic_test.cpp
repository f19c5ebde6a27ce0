#include "db/file_magic.h"

#include <gtest/gtest.h>

#include <fstream>

#include "db/temporary.h"

namespace pitwall::file_magic_test {
namespace {

TEST(FileMagic, EachKindIsRecognisedByItsFirstBytesAlone) {
  EXPECT_TRUE(magic::isGzip("\x1f\x8b\x08"));
  EXPECT_FALSE(magic::isGzip("\x1f"));
  EXPECT_TRUE(magic::isZstd("\x28\xb5\x2f\xfd"));
  EXPECT_FALSE(magic::isZstd("\x28\xb5\x2f"));
  EXPECT_TRUE(magic::isZip("PK\x03\x04rest"));
  EXPECT_FALSE(magic::isZip("PK\x05\x06"));  // an archive without members
}

TEST(FileMagic, ADatabaseNamesItsProgram) {
  std::string header("SQLite format 3\0", 16);
  EXPECT_TRUE(magic::isSqlite(header));
  EXPECT_FALSE(magic::isSqlite("SQLite format 3 "));
  EXPECT_EQ(magic::sqliteProgram(header), "");  // cut before the id
  header.resize(68);
  header += "PitwX";
  EXPECT_EQ(magic::sqliteProgram(header), magic::kTraceId);
  header[0] = 's';
  EXPECT_EQ(magic::sqliteProgram(header), "");
}

TEST(FileMagic, TheStartOfAFileMayBeShort) {
  const auto folder = TemporaryFolder::create("a test");
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->file("short");
  std::ofstream(path) << "PK";
  EXPECT_EQ(magic::startOf(path).value(), "PK");
  std::ofstream(path) << std::string(200, 'x');
  EXPECT_EQ(magic::startOf(path).value(), std::string(magic::kStartBytes, 'x'));
  const auto missing = magic::startOf(folder->file("missing"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message,
            folder->file("missing") + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace pitwall::file_magic_test
