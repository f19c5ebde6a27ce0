// Compression: several members, truncation, bombs.
#include "db/import/input/byte_source.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/db/import/imported.h"

namespace pitwall::test::byte_source_test {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string trace(int events) {
  std::string text = "[";
  for (int i = 0; i < events; ++i) {
    text += "{\"name\":\"e" + std::to_string(i * 7919) + "\",\"ph\":\"X\",\"ts\":" + std::to_string(i) +
            ",\"dur\":1,\"pid\":1,\"tid\":1},\n";
  }
  return text + "{\"name\":\"last\",\"ph\":\"X\",\"ts\":9,\"dur\":1,\"pid\":2}]";
}

TEST(ImportCompression, PlainGzipAndZstdGiveTheSame) {
  const std::string text = trace(3000);
  struct Case {
    std::string content;
    const char* compression;
  };
  for (const Case& test : {Case{text, "none"}, Case{gzip(text), "gzip"}, Case{zstd(text), "zstd"},
                           Case{gzip(text.substr(0, 999)) + gzip(text.substr(999)), "gzip"},
                           Case{zstd(text.substr(0, 999)) + zstd(text.substr(999)), "zstd"},
                           Case{gzip(text) + std::string(512, '\0'), "gzip"}}) {
    SCOPED_TRACE(test.compression);
    const auto imported = importText(test.content);
    ASSERT_EQ(imported->error, "");
    EXPECT_TRUE(imported->summary.complete()) << imported->summary.inputs[0].damage;
    EXPECT_EQ(imported->summary.inputs[0].compression, test.compression);
    EXPECT_EQ(imported->summary.inputs[0].content_bytes, static_cast<Bytes>(text.size()));
    EXPECT_EQ(imported->sink.all_events.size(), 3001U);
  }
}

TEST(ImportCompression, CutAndDamagedStreamsKeepTheirPrefix) {
  const std::string text = trace(30000);
  for (std::string content : {gzip(text), zstd(text)}) {
    content.resize(content.size() / 2);
    const auto imported = importText(content);
    ASSERT_EQ(imported->error, "");
    EXPECT_FALSE(imported->summary.complete());
    EXPECT_GT(imported->sink.all_events.size(), 1000U);
    EXPECT_LT(imported->sink.all_events.size(), 30000U);
  }
  std::string wrong_sum = gzip(text);
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] ^ 0x55);
  const auto imported = importText(wrong_sum);
  EXPECT_EQ(imported->sink.all_events.size(), 30001U);
  EXPECT_FALSE(imported->summary.complete());
  EXPECT_NE(imported->summary.inputs[0].damage.find("incorrect data check"), std::string::npos)
      << imported->summary.inputs[0].damage;
  EXPECT_NE(importText("\x1f\x8b nonsense")->error, "");
}

TEST(ImportCompression, BombsAreRefused) {
  // 300 MB of spaces between the brackets.
  const std::string content = zstd("[" + std::string(300 << 20, ' ') + "]");
  const auto ratio = importText(content);
  EXPECT_EQ(ratio->code, ErrorCode::invalidInput);
  EXPECT_NE(ratio->error.find("times when decompressed"), std::string::npos) << ratio->error;
  ImportOptions options;
  options.limits.decompressed_bytes = 1 << 20;
  EXPECT_NE(importText(gzip(trace(100000)), options)->error.find("decompresses to more than"),
            std::string::npos);
}

TEST(ImportCompression, ProgressReachesTheEnd) {
  ImportOptions options;
  ImportProgress last;
  options.progress = [&](const ImportProgress& progress) { last = progress; };
  const std::string text = trace(50000);
  ASSERT_EQ(importText(text, options)->error, "");
  EXPECT_EQ(last.done_bytes, static_cast<Bytes>(text.size()));
  EXPECT_EQ(last.total_bytes, static_cast<Bytes>(text.size()));
}

}  // namespace
}  // namespace pitwall::test::byte_source_test
