// The idx reader: real files, and all kinds of invalid files.
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "runtime/data.h"

namespace pitwall::data::idx_test {
namespace {

using Bytes = std::string;

Bytes number(std::uint32_t n) {
  return {static_cast<char>(n >> 24U), static_cast<char>(n >> 16U), static_cast<char>(n >> 8U),
          static_cast<char>(n)};
}

Bytes images(std::uint32_t count, std::uint32_t height, std::uint32_t width, std::size_t pixels) {
  return number(0x803) + number(count) + number(height) + number(width) + Bytes(pixels, 'p');
}
Bytes labels(std::uint32_t count, std::size_t bytes) {
  return number(0x801) + number(count) + Bytes(bytes, 3);
}

class IdxTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("pitwall_idx_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string plain(const std::string& name, const Bytes& bytes) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string gzipped(const std::string& name, const Bytes& bytes) const {
    const std::string path = folder_ / name;
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path;
  }
  // The error of reading these images beside good labels.
  Error errorOf(const std::string& images_path) const {
    const auto read = readIdx(images_path, plain("good_labels", labels(2, 2)));
    EXPECT_FALSE(read.has_value());
    return read.has_value() ? Error{} : read.error();
  }
  void expectWrong(const std::string& path, const std::string& text) const {
    const Error error = errorOf(path);
    EXPECT_EQ(error.code, ErrorCode::invalidInput);
    EXPECT_NE(error.message.find(path), std::string::npos) << error.message;
    EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
  }

  std::filesystem::path folder_;
};

TEST_F(IdxTest, ReadsPlainAndGzipped) {
  Bytes bytes = images(2, 2, 3, 0);
  for (int i = 0; i < 12; ++i) bytes.push_back(static_cast<char>(i * 20));
  for (const std::string& path : {plain("i", bytes), gzipped("i.gz", bytes)}) {
    const auto dataset = readIdx(path, gzipped("l.gz", labels(2, 2)));
    ASSERT_TRUE(dataset.has_value()) << dataset.error().message;
    EXPECT_EQ(dataset->count, 2);
    EXPECT_EQ(dataset->channels, 1);
    EXPECT_EQ(dataset->height, 2);
    EXPECT_EQ(dataset->width, 3);
    ASSERT_EQ(dataset->pixels.size(), 12U);
    EXPECT_EQ(dataset->pixels[11], 220);
    EXPECT_EQ(dataset->labels, (std::vector<std::uint8_t>{3, 3}));
  }
}

TEST_F(IdxTest, MissingFile) {
  const Error error = errorOf(folder_ / "absent");
  EXPECT_EQ(error.code, ErrorCode::notFound);
  EXPECT_NE(error.message.find("absent"), std::string::npos);
}

TEST_F(IdxTest, AFolderIsNotAFile) {
  const Error error = errorOf(folder_);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_NE(error.message.find("cannot be read"), std::string::npos) << error.message;
}

TEST_F(IdxTest, EmptyFile) { expectWrong(plain("i", ""), "at byte 0: the file ends within its header"); }

TEST_F(IdxTest, WrongMagic) {
  expectWrong(plain("text", "hello, this is text"), "magic number 0x68656c6c instead of 0x00000803");
}

TEST_F(IdxTest, WrongNumberOfDimensions) {
  expectWrong(plain("labels_as_images", labels(2, 2)), "magic number 0x00000801 instead of 0x00000803");
}

TEST_F(IdxTest, WrongElementType) {
  expectWrong(plain("floats", number(0xd03) + number(2) + number(2) + number(2)), "magic number 0x00000d03");
}

TEST_F(IdxTest, HeaderCutOff) {
  const Bytes whole = images(2, 2, 2, 0);
  for (const std::size_t kept : {4U, 7U, 8U, 15U}) {
    expectWrong(plain("cut", whole.substr(0, kept)),
                "at byte " + std::to_string(kept) + ": the file ends within its header");
  }
}

TEST_F(IdxTest, ADimensionIsZero) { expectWrong(plain("i", images(2, 0, 2, 0)), "dimension 1 is 0"); }

TEST_F(IdxTest, ImpossiblyLarge) {
  expectWrong(plain("i", images(0xffffffff, 0xffffffff, 0xffffffff, 4)), "impossibly large");
}

TEST_F(IdxTest, PromisesMoreThanItHas) {
  // The header declares 4 GiB: the error must come from the end of the file, not from allocating that memory.
  expectWrong(plain("i", images(65536, 256, 256, 1000)), "the file ends after 1000 of 4294967296 elements");
  expectWrong(gzipped("i.gz", images(2, 2, 2, 7)), "at byte 23: the file ends after 7 of 8 elements");
}

TEST_F(IdxTest, TrailingBytes) {
  expectWrong(plain("i", images(2, 2, 2, 9)), "there is data after the 8 elements");
  expectWrong(gzipped("i.gz", images(2, 2, 2, 100)), "there is data after the 8 elements");
}

TEST_F(IdxTest, GzipCutOff) {
  const std::string path = gzipped("i.gz", images(2, 200, 200, 80000));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 12);
  expectWrong(path, "the gzipped data is truncated");
}

TEST_F(IdxTest, GzipDamaged) {
  const std::string path = gzipped("i.gz", images(2, 200, 200, 80000));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-6, std::ios::end);
  file << "XX";  // the checksum
  file.close();
  expectWrong(path, "the gzipped data is damaged");
}

TEST_F(IdxTest, ImagesAndLabelsDoNotBelongTogether) {
  const auto read = readIdx(plain("i", images(2, 2, 2, 8)), plain("l", labels(3, 3)));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::invalidInput);
  EXPECT_NE(read.error().message.find("has 2 images"), std::string::npos);
  EXPECT_NE(read.error().message.find("has 3 labels"), std::string::npos);
}

TEST_F(IdxTest, LabelsAreCheckedToo) {
  const std::string good = plain("i", images(2, 2, 2, 8));
  const auto read = readIdx(good, plain("l", labels(2, 1)));
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("/l: at byte 9: the file ends after 1 of 2 elements"),
            std::string::npos)
      << read.error().message;
}

TEST_F(IdxTest, FashionMnistMissingSaysWhatToInstall) {
  const auto read = fashionMnist(Split::train, folder_);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::notFound);
  EXPECT_NE(read.error().message.find("sudo apt-get install dataset-fashion-mnist, or use --synthetic"),
            std::string::npos);
  EXPECT_NE(read.error().message.find(folder_.string() + "/train-images-idx3-ubyte.gz"), std::string::npos);
}

TEST(FashionMnist, IsWhatItsAuthorsSay) {
  if (!std::filesystem::exists(kFashionMnistFolder)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto train = fashionMnist(Split::train);
  ASSERT_TRUE(train.has_value()) << train.error().message;
  EXPECT_EQ(train->count, 60000);
  EXPECT_EQ(train->height, 28);
  EXPECT_EQ(train->width, 28);
  const auto test = fashionMnist(Split::test);
  ASSERT_TRUE(test.has_value()) << test.error().message;
  EXPECT_EQ(test->count, 10000);
  std::array<int, 10> counts{};
  for (const std::uint8_t label : test->labels) ++counts.at(label);
  for (const int count : counts) EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace pitwall::data::idx_test
