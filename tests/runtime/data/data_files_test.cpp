// Batches of numbers from files: their values and order, and what is said of damaged files.
#include "runtime/data_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "db/temporary.h"
#include "runtime/parameter_file.h"

namespace pitwall::data::data_files_test {
namespace {

struct Taken {
  std::vector<float> values, labels;
  std::int64_t items = 0, padding = 0;
  Shape shape;
};

class DataFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryFolder::create("a test");
    ASSERT_TRUE(folder.has_value());
    folder_ = std::move(folder).value();
    SessionOptions options;
    options.backend = "null";
    auto session = Session::open(options);
    ASSERT_TRUE(session.has_value()) << session.error().message;
    session_ = std::move(session).value();
  }

  std::string put(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_.file(name), std::ios::binary) << contents;
    return folder_.file(name);
  }

  using Opened = Result<std::unique_ptr<BatchIterator>>;

  static std::vector<Taken> epoch(const Opened& batches) {
    std::vector<Taken> all;
    EXPECT_TRUE(batches.has_value()) << batches.error().message;
    Batch batch;
    while (batches.has_value()) {
      const auto more = (*batches)->next(batch);
      EXPECT_TRUE(more.has_value()) << more.error().message;
      if (!more.has_value() || !*more) break;
      const auto* values = static_cast<const float*>(batch.block.data());
      all.push_back({{values, values + batch.image_shape.elements()},
                     batch.labels,
                     batch.items,
                     batch.padding,
                     batch.image_shape});
    }
    return all;
  }

  static std::string errorOf(const Opened& batches) {
    if (!batches.has_value()) return batches.error().message;
    Batch batch;
    for (;;) {
      const auto more = (*batches)->next(batch);
      if (!more.has_value()) return more.error().message;
      if (!*more) return "";
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Session> session_;
};

using Values = std::vector<float>;

TEST_F(DataFilesTest, CsvGivesItsLinesInOrder) {
  CsvOptions options{.data_csv = put("x.csv", "1,2,3,4\r\n\n 5 ,-6e1,7.5,8\n\n\n9,10,11,12"),
                     .data_shape = {2, 2},
                     .label_csv = put("y.csv", "1\n2\n3\n"),
                     .batch_size = 2};
  for (const int threads : {0, 1, 3}) {
    options.preprocess_threads = threads;
    const auto batches = openCsv(*session_, options);
    for (int e = 0; e < 2; ++e, (*batches)->reset()) {
      const auto all = epoch(batches);
      ASSERT_EQ(all.size(), 2U);
      EXPECT_EQ(all[0].values, (Values{1, 2, 3, 4, 5, -60, 7.5, 8}));
      EXPECT_EQ(all[0].shape, (Shape{2, 2, 2}));
      EXPECT_EQ(all[1].values, (Values{9, 10, 11, 12, 1, 2, 3, 4})) << "filled from the start";
      EXPECT_EQ(all[1].labels, (Values{3, 1}));
      EXPECT_EQ(all[1].padding, 1);
    }
  }
  options.round_batch = false;
  options.label_csv.clear();
  const auto rest = epoch(openCsv(*session_, options));
  EXPECT_EQ(rest[1].items, 1);
  EXPECT_EQ(rest[1].values, (Values{9, 10, 11, 12}));
  EXPECT_EQ(rest[0].labels, (Values{0, 0})) << "without labels";
}

TEST_F(DataFilesTest, CsvOfManyLines) {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += fmt::format("{},{:060}\n", i, i % 7);
  const auto all =
      epoch(openCsv(*session_, {.data_csv = put("x.csv", text), .data_shape = {2}, .batch_size = 10000}));
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < 30000; i += 77) EXPECT_EQ(all[i / 10000].values[2 * (i % 10000)], i);
}

TEST_F(DataFilesTest, DamagedCsvNamesFileLineAndValue) {
  const auto error = [this](const std::string& text) {
    return errorOf(openCsv(*session_, {.data_csv = put("x.csv", text), .data_shape = {2}}));
  };
  const std::string path = folder_.file("x.csv");
  EXPECT_EQ(error("1,2\n\n3,x7\n"), path + ": line 3: value 2 is 'x7': must be a number");
  EXPECT_EQ(error("1,2\n3\n"), path + ": line 2: 1 value instead of 2, as data_shape says");
  EXPECT_EQ(error("1,2,3\n"), path + ": line 1: 3 values instead of 2, as data_shape says");
  EXPECT_EQ(error("1,\n"), path + ": line 1: value 2 is '': must be a number");
  EXPECT_EQ(error(std::string("1,\0\x1b\n", 5)),
            path + ": line 1: value 2 is '\\x00\\x1b': must be a number");
  EXPECT_EQ(error("\n\n"), path + ": there are no items");
  std::string long_line = "1";
  for (int i = 0; i < 1'000'000; ++i) long_line += ",1";
  EXPECT_NE(error(long_line).find("1000001 values instead of 2"), std::string::npos);
  EXPECT_NE(errorOf(openCsv(*session_, {.data_csv = folder_.file("none"), .data_shape = {2}}))
                .find("cannot be opened"),
            std::string::npos);
  EXPECT_EQ(errorOf(openCsv(*session_, {.data_csv = path})),
            "data_shape is scalar: give the shape of one item, one axis to 5");
  put("x.csv", "1,2\n3,4\n");
  EXPECT_EQ(
      errorOf(openCsv(*session_, {.data_csv = path, .data_shape = {2}, .label_csv = put("y.csv", "1\n")})),
      path + " has 2 lines, but " + folder_.file("y.csv") + " has 1: each item needs one of both");
  EXPECT_EQ(errorOf(openCsv(*session_, {.data_csv = path, .data_shape = {2}, .batch_size = 0})),
            "batch_size is 0: 1 to 1000000 are allowed");
}

TEST_F(DataFilesTest, AfterADamagedLineTheNextBatchFollows) {
  const auto batches = openCsv(*session_, {.data_csv = put("x.csv", "1\nx\n3\n"), .data_shape = {1}});
  Batch batch;
  EXPECT_TRUE((*batches)->next(batch).has_value());
  EXPECT_FALSE((*batches)->next(batch).has_value());
  ASSERT_TRUE((*batches)->next(batch).has_value());
  EXPECT_EQ(*static_cast<const float*>(batch.block.data()), 3);
}

TEST_F(DataFilesTest, AFileThatIsWrittenWhileItIsReadSaysSo) {
  const std::string path = put("x.csv", "1\n2\n3\n");
  // Some file systems keep times to some milliseconds only.
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(path, now - std::chrono::hours(1));
  const auto batches = openCsv(*session_, {.data_csv = path, .data_shape = {1}, .preprocess_threads = 0});
  Batch batch;
  ASSERT_TRUE((*batches)->next(batch).has_value());
  put("x.csv", "x\ny\nz\n");
  EXPECT_NE(errorOf(batches).find("x.csv: was written anew while it was read"), std::string::npos);
  put("x.csv", "1");
  (*batches)->reset();
  EXPECT_NE(errorOf(batches).find("was it written anew while it was read?"), std::string::npos);
}

TEST_F(DataFilesTest, LibsvmIsDense) {
  LibsvmOptions options{.data_libsvm = put("x", "1 0:0.5 2:1.2\n-2\t1:3 # the second\n0\n3 2:9\n"),
                        .data_shape = {3},
                        .batch_size = 2};
  auto all = epoch(openLibsvm(*session_, options));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].values, (Values{0.5, 0, 1.2F, 0, 3, 0}));
  EXPECT_EQ(all[0].labels, (Values{1, -2}));
  EXPECT_EQ(all[1].values, (Values{0, 0, 0, 0, 0, 9}));
  options.label_libsvm = put("y", "1 1:7\n2\n3 0:8\n4\n");
  options.label_shape = {2};
  all = epoch(openLibsvm(*session_, options));
  EXPECT_EQ(all[0].labels, (Values{0, 7, 0, 0}));
  EXPECT_EQ(all[1].labels, (Values{8, 0, 0, 0}));
  options.num_parts = 2;
  options.part_index = 1;
  all = epoch(openLibsvm(*session_, options));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].labels, (Values{8, 0, 0, 0})) << "the second half";
}

TEST_F(DataFilesTest, DamagedLibsvmNamesFileLineAndPair) {
  const auto error = [this](const std::string& text) {
    return errorOf(openLibsvm(*session_, {.data_libsvm = put("x", text), .data_shape = {3}}));
  };
  const std::string path = folder_.file("x");
  EXPECT_EQ(error("1 0:1\n1 3:1\n"),
            path + ": line 2: index 3 is outside: data_shape says 3 values, counted from 0");
  EXPECT_EQ(error("1 -1:1\n"), path + ": line 1: '-1:1' must be an index, a colon and a number");
  EXPECT_EQ(error("1 1\n"), path + ": line 1: '1' must be an index, a colon and a number");
  EXPECT_EQ(error("1 1:\n"), path + ": line 1: '1:' must be an index, a colon and a number");
  EXPECT_EQ(error("1 99999999999999999999:1\n"),
            path + ": line 1: '99999999999999999999:1' must be an index, a colon and a number");
  EXPECT_EQ(error("x 1:1\n"), path + ": line 1: it begins with 'x': must be a number");
  EXPECT_EQ(error("# nothing\n"), path + ": line 1: it begins with '': must be a number");
  EXPECT_EQ(errorOf(openLibsvm(*session_, {.data_libsvm = path, .data_shape = {3}, .label_shape = {2}})),
            "label_shape is 2: a line of " + path + " begins with one label; give label_libsvm for several");
}

template <class Element>
ParameterArray arrayOf(Shape shape, DType dtype, const std::vector<Element>& values) {
  ParameterArray array{std::move(shape), dtype, std::vector<std::byte>(values.size() * sizeof(Element))};
  std::memcpy(array.values.data(), values.data(), array.values.size());
  return array;
}

TEST_F(DataFilesTest, ArraysOfEachType) {
  ArrayOptions options{.path = folder_.file("a.params"), .batch_size = 2};
  ParameterArrays arrays;
  arrays["data"] = arrayOf<float>({3, 2}, DType::float32, {1, 2, 3, 4, 5, 6});
  arrays["softmax_label"] = arrayOf<std::int32_t>({3}, DType::int32, {7, -8, 9});
  arrays["bytes"] = arrayOf<std::uint8_t>({3, 1}, DType::uint8, {255, 0, 1});
  arrays["signed"] = arrayOf<std::int8_t>({3}, DType::int8, {-1, 0, 1});
  ASSERT_TRUE(saveParameters(options.path, arrays).has_value());
  auto all = epoch(openArrays(*session_, options));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].values, (Values{5, 6, 1, 2}));
  EXPECT_EQ(all[1].labels, (Values{9, 7}));
  EXPECT_EQ(all[1].padding, 1);
  options.last_batch_handle = LastBatch::discard;
  EXPECT_EQ(epoch(openArrays(*session_, options)).size(), 1U);
  options.data_name = "bytes";
  options.label_name = "signed";
  all = epoch(openArrays(*session_, options));
  EXPECT_EQ(all[0].values, (Values{255, 0}));
  EXPECT_EQ(all[0].labels, (Values{-1, 0}));
}

TEST_F(DataFilesTest, ShuffledArraysHaveEachItemOnceAnEpoch) {
  ArrayOptions options{
      .path = folder_.file("a.params"), .label_name = "", .batch_size = 10, .shuffle = true, .seed = 4};
  Values values(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  ASSERT_TRUE(
      saveParameters(options.path, {{"data", arrayOf<float>({40}, DType::float32, values)}}).has_value());
  std::vector<Values> first;
  for (const int threads : {0, 3}) {
    options.preprocess_threads = threads;
    const auto batches = openArrays(*session_, options);
    for (std::size_t e = 0; e < 2; ++e, (*batches)->reset()) {
      Values seen;
      for (const Taken& taken : epoch(batches))
        seen.insert(seen.end(), taken.values.begin(), taken.values.end());
      EXPECT_EQ(std::set<float>(seen.begin(), seen.end()).size(), 40U);
      if (first.size() == e) first.push_back(seen);
      EXPECT_EQ(seen, first[e]) << "the same with " << threads << " threads";
    }
  }
  EXPECT_NE(first[0], first[1]);
}

TEST_F(DataFilesTest, ArraysThatDoNotFitAreNamed) {
  ArrayOptions options{.path = folder_.file("a.params")};
  ParameterArrays arrays;
  arrays["data"] = arrayOf<float>({3, 2}, DType::float32, {1, 2, 3, 4, 5, 6});
  arrays["softmax_label"] = arrayOf<float>({2}, DType::float32, {1, 2});
  arrays["half"] = arrayOf<std::uint16_t>({3}, DType::float16, {0, 0, 0});
  ASSERT_TRUE(saveParameters(options.path, arrays).has_value());
  EXPECT_EQ(errorOf(openArrays(*session_, options)),
            options.path + ": 'data' has 3 items, but 'softmax_label' has 2: each needs one of both");
  options.data_name = "x";
  EXPECT_EQ(errorOf(openArrays(*session_, options)),
            options.path + ": there is no array 'x'; it has data, half, softmax_label");
  options.data_name = "half";
  EXPECT_EQ(errorOf(openArrays(*session_, options)),
            options.path + ": array 'half' is of float16: float32, int8, uint8 and int32 are possible");
  options.data_name = "data";
  options.label_name = "";
  options.batch_size = 4;
  options.last_batch_handle = LastBatch::discard;
  EXPECT_EQ(errorOf(openArrays(*session_, options)), options.path +
                                                         ": 3 items do not fill a batch of 4, and the rest "
                                                         "of an epoch is left out: use a smaller batch_size");
  std::filesystem::resize_file(options.path, 60);
  EXPECT_EQ(errorOf(openArrays(*session_, options)).find(options.path + ": at byte "), 0U);
}

// A list of MXNet without names, as nd.save() writes [array].
TEST_F(DataFilesTest, ArraysWithoutNamesHaveTheirNumbers) {
  const std::string path = folder_.file("a.nd");
  ASSERT_TRUE(saveParameters(path, {{"x", arrayOf<float>({2}, DType::float32, {5, 6})}}).has_value());
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.resize(bytes.size() - 9);  // the length of the name, and the name
  bytes[bytes.size() - 8] = 0;     // how many names
  const auto all = epoch(openArrays(
      *session_, {.path = put("b.nd", bytes), .data_name = "0", .label_name = "", .batch_size = 2}));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].values, (Values{5, 6}));
}

TEST_F(DataFilesTest, Mnist) {
  const auto word = [](std::uint32_t n) {
    return std::string{static_cast<char>(n >> 24U), static_cast<char>(n >> 16U), static_cast<char>(n >> 8U),
                       static_cast<char>(n)};
  };
  std::string pixels;
  for (int i = 0; i < 5; ++i) pixels += std::string(6, static_cast<char>(51 * i));
  MnistOptions options{.image = put("i", word(0x803) + word(5) + word(2) + word(3) + pixels),
                       .label = put("l", word(0x801) + word(5) + std::string("\0\1\2\3\4", 5)),
                       .batch_size = 2,
                       .shuffle = false};
  auto all = epoch(openMnist(*session_, options));
  ASSERT_EQ(all.size(), 2U) << "the fifth is left out";
  EXPECT_EQ(all[1].shape, (Shape{2, 1, 2, 3}));
  EXPECT_FLOAT_EQ(all[1].values[0], 0.4F);
  EXPECT_EQ(all[1].labels, (Values{2, 3}));
  options.flat = true;
  options.num_parts = 2;
  options.part_index = 1;
  all = epoch(openMnist(*session_, options));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].shape, (Shape{2, 6}));
  EXPECT_EQ(all[0].labels, (Values{2, 3}));
  options.label = put("l", word(0x801) + word(4) + std::string("\0\1\2\3", 4));
  EXPECT_NE(errorOf(openMnist(*session_, options)).find("not a pair"), std::string::npos);
}

}  // namespace
}  // namespace pitwall::data::data_files_test
