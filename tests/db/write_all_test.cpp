#include "db/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "db/temporary.h"

namespace pitwall::write_all_test {
namespace {

std::string contents(int file) {
  std::string text(64, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

TEST(WriteAll, BytesAreWrittenInPlaceAndAtAPosition) {
  const auto file = openUnnamedFile("a test");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(writeAll(*file, "abcdef"), 0);
  EXPECT_EQ(writeAllAt(*file, "XY", 2), 0);
  EXPECT_EQ(writeAll(*file, "g"), 0);  // behind the first
  EXPECT_EQ(contents(*file), "abXYefg");
  EXPECT_EQ(writeAll(*file, ""), 0);
  ::close(*file);
}

// A pipe takes 64 KiB at once, in parts; one that does not block refuses the rest until it is read.
TEST(WriteAll, AFullPipeIsWaitedFor) {
  for (const int flags : {0, O_NONBLOCK}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, flags), 0);
    const std::string sent(1 << 20, 'p');
    int error = -1;
    std::thread writer([&] {
      error = writeAll(ends[1], sent);
      ::close(ends[1]);
    });
    std::string received;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;)
      received.append(part.data(), static_cast<std::size_t>(got));
    writer.join();
    ::close(ends[0]);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(received, sent);
  }
}

TEST(WriteAll, AFailureIsReturnedAsErrno) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  EXPECT_EQ(writeAll(full, "x"), ENOSPC);
  ::close(full);
  EXPECT_EQ(writeAllAt(-1, "x", 0), EBADF);
}

}  // namespace
}  // namespace pitwall::write_all_test
