#include "runtime/parameter_file.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <fstream>

#include "tests/support/temp_folder.h"

namespace pitwall::graph::parameter_file_test {
namespace {

using testing::HasSubstr;

ParameterArray arrayOf(const Shape& shape, const std::vector<float>& values) {
  ParameterArray array{shape, DType::float32, std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(array.values.data(), values.data(), array.values.size());
  return array;
}

// A file by its numbers.
class FileBytes {
 public:
  template <class T>
  FileBytes& add(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  FileBytes& u32(std::uint32_t value) { return add(value); }
  FileBytes& u64(std::uint64_t value) { return add(value); }
  FileBytes& text(const std::string& value) {
    text_ += value;
    return *this;
  }
  FileBytes& list(std::uint64_t arrays) { return u64(0x112).u64(0).u64(arrays); }
  // Version 2, dense, on cpu(0).
  FileBytes& array(const std::vector<std::int64_t>& shape, std::int32_t type,
                   std::uint32_t magic = 0xF993FAC9) {
    u32(magic).u32(0).u32(static_cast<std::uint32_t>(shape.size()));
    for (const std::int64_t extent : shape) add(extent);
    return u32(1).u32(0).add(type);
  }
  FileBytes& name(const std::string& value) { return u64(value.size()).text(value); }
  const std::string& get() const { return text_; }

 private:
  std::string text_;
};

class ParameterFile : public testing::Test {
 protected:
  Result<ParameterArrays> read(const std::string& bytes) {
    const std::string path = folder_ / "net-0000.params";
    std::ofstream(path, std::ios::binary) << bytes;
    return loadParameters(path);
  }
  std::string failureOf(const FileBytes& bytes) {
    const auto arrays = read(bytes.get());
    return arrays.has_value() ? "" : arrays.error().message;
  }

  test::TempFolder folder_;
};

TEST_F(ParameterFile, IsReadAsItWasWritten) {
  ParameterArrays arrays;
  arrays["arg:weight"] = arrayOf({2, 3}, {1, 2, 3, 4, 5, 6});
  arrays["aux:mean"] = arrayOf({1}, {-1});
  arrays["arg:half"] = {{2}, DType::float16, std::vector<std::byte>(4, std::byte{0x3c})};
  arrays["arg:bytes"] = {{3}, DType::int8, {std::byte{1}, std::byte{2}, std::byte{255}}};
  arrays["arg:none"] = {{0, 4}, DType::float32, {}};
  const std::string path = folder_ / "a.params";
  const Status saved = saveParameters(path, arrays);
  ASSERT_TRUE(saved.has_value()) << saved.error().message;
  const auto again = loadParameters(path);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again->size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(again->at(name).shape, array.shape) << name;
    EXPECT_EQ(again->at(name).dtype, array.dtype) << name;
    EXPECT_EQ(again->at(name).values, array.values) << name;
  }
}

TEST_F(ParameterFile, OfEveryVersion) {
  const float value = 1.5F;
  // Version 3 has scalars; version 1 no kind of storage; before it, the number of 32-bit extents came first.
  const auto v3 = read(FileBytes().list(1).array({}, 0, 0xF993FACA).add(value).u64(1).name("s").get());
  ASSERT_TRUE(v3.has_value()) << v3.error().message;
  EXPECT_EQ(v3->at("s").shape, Shape());
  const auto v1 = read(FileBytes()
                           .list(1)
                           .u32(0xF993FAC8)
                           .u32(1)
                           .u64(1)
                           .u32(1)
                           .u32(0)
                           .u32(0)
                           .add(value)
                           .u64(1)
                           .name("w")
                           .get());
  ASSERT_TRUE(v1.has_value()) << v1.error().message;
  EXPECT_EQ(v1->at("w").shape, Shape{1});
  const auto v0 =
      read(FileBytes().list(1).u32(2).u32(1).u32(1).u32(1).u32(0).u32(0).add(value).u64(1).name("w").get());
  ASSERT_TRUE(v0.has_value()) << v0.error().message;
  EXPECT_EQ(v0->at("w").shape, (Shape{1, 1}));
  EXPECT_EQ(v0->at("w").values, v3->at("s").values);
}

TEST_F(ParameterFile, ArraysWithoutNamesHaveTheirNumbers) {
  const auto arrays =
      read(FileBytes().list(2).array({1}, 0).add(1.5F).array({1, 1}, 0).add(2.5F).u64(0).get());
  ASSERT_TRUE(arrays.has_value()) << arrays.error().message;
  ASSERT_EQ(arrays->size(), 2U);
  EXPECT_EQ(arrays->at("0").shape, Shape{1});
  EXPECT_EQ(arrays->at("1").shape, (Shape{1, 1}));
}

TEST_F(ParameterFile, DamageIsAMessage) {
  EXPECT_THAT(failureOf(FileBytes()), HasSubstr("net-0000.params: at byte 0: the file ends too early"));
  EXPECT_THAT(failureOf(FileBytes().u64(0x113).u64(0)),
              HasSubstr("it begins with 0x113 instead of 0x112, so it is no parameter file"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({4}, 0).add(1.0F)),
              HasSubstr("array 0: 4 of float32 take 16 bytes, but 4 are left"));
  EXPECT_THAT(failureOf(FileBytes().list(2).array({0}, 0).array({0}, 0).u64(1).name("w")),
              HasSubstr("there are 2 arrays and 1 names: all or none have a name"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({1}, 0).add(1.0F).u64(1).u64(99).text("w")),
              HasSubstr("99 characters are announced, but 1 bytes"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({1}, 0).add(1.0F).u64(1).name("w").text("more")),
              HasSubstr("4 bytes follow the last name"));
  EXPECT_THAT(failureOf(FileBytes().list(2).array({0}, 0).array({0}, 0).u64(2).name("w").name("w")),
              HasSubstr("two arrays have the name w"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({1}, 99).add(1.0F)),
              HasSubstr("array 0: there is no element type 99"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({-1}, 0).add(1.0F)),
              HasSubstr("array 0: axis 0 has -1 elements"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({}, 0)), HasSubstr("array 0: it has no shape"));
}

// Nothing is allocated for what the file cannot hold.
TEST_F(ParameterFile, HugeNumbersAreMessages) {
  const std::uint64_t huge = std::uint64_t{1} << 63;
  EXPECT_THAT(failureOf(FileBytes().list(huge).array({1}, 0)),
              HasSubstr("9223372036854775808 arrays are announced"));
  EXPECT_THAT(failureOf(FileBytes().list(~std::uint64_t{0})),
              HasSubstr("arrays are announced, but 0 bytes are left"));
  const std::int64_t large = std::int64_t{1} << 31;
  EXPECT_THAT(failureOf(FileBytes().list(1).array({large, large, large}, 0)),
              HasSubstr("is impossibly large"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({large, large}, 3)),
              HasSubstr("take 4611686018427387904 bytes, but 0 are left"));
  EXPECT_THAT(failureOf(FileBytes().list(1).u32(0xF993FAC9).u32(0).u32(0x7FFFFFFF).u64(1)),
              HasSubstr("it has 2147483647 axes"));
  EXPECT_THAT(failureOf(FileBytes().list(1).u32(123456).u64(1)), HasSubstr("it has 123456 axes"));
}

TEST_F(ParameterFile, WhatHasNoArrayHereIsNamed) {
  const auto code = [this](const FileBytes& bytes) { return read(bytes.get()).error().code; };
  const FileBytes wide = FileBytes().list(1).array({1}, 1).add(1.0);
  EXPECT_THAT(failureOf(wide), HasSubstr("array 0: its elements are float64; save it as float32"));
  EXPECT_EQ(code(wide), ErrorCode::unsupported);
  EXPECT_THAT(failureOf(FileBytes().list(1).u32(0xF993FAC9).u32(1)), HasSubstr("array 0: it is sparse"));
  EXPECT_THAT(failureOf(FileBytes().list(1).array({1, 1, 1, 1, 1, 1, 1}, 0)),
              HasSubstr("it has 7 axes, at most 6"));
}

TEST_F(ParameterFile, WhatCannotBeStoredIsAMessage) {
  const std::string path = folder_ / "b.params";
  EXPECT_THAT(saveParameters(path, {{"w", arrayOf({}, {1})}}).error().message,
              HasSubstr("w: a scalar cannot be stored"));
  EXPECT_THAT(saveParameters(path, {{"w", arrayOf({3}, {1})}}).error().message,
              HasSubstr("w: 3 of float32 take 12 bytes, 4 given"));
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing is written";
}

}  // namespace
}  // namespace pitwall::graph::parameter_file_test
