// Record files and images that are damaged, and parameters that are impossible: messages, never a crash.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/image_records.h"
#include "tests/runtime/data/image_records_fixture.h"

namespace pitwall::data::image_damage_test {
namespace {

using ImageDamageTest = ImageRecordsFixture;

TEST_F(ImageDamageTest, DamagedImagesAreSkippedCountedAndNamed) {
  write(10, {1, 7});
  const auto batches = open(options());
  const auto all = epoch(*batches);
  EXPECT_EQ(all[0].labels, (std::vector<float>{0, 2, 2, 3})) << "the next one takes its place";
  EXPECT_EQ(all[1].labels, (std::vector<float>{4, 5, 6, 4}));
  batches->reset();
  EXPECT_EQ(labelsOf(epoch(*batches)).size(), 10U);
  const auto summary = batches->summary();
  EXPECT_EQ(summary.skipped, 2) << "each counts once";
  ASSERT_EQ(summary.first_skipped.size(), 2U);
  EXPECT_EQ(summary.first_skipped[1].key, 7U);
  EXPECT_NE(summary.problems("a.rec").find("a.rec: 2 images skipped; record 1 at byte "), std::string::npos);
  EXPECT_NE(summary.problems("a.rec").find("damaged PNG: "), std::string::npos);
}

TEST_F(ImageDamageTest, ABatchWithoutAnyImageIsAnErrorAndTheNextFollows) {
  write(8, {0, 1, 2, 3});
  const auto batches = open(options());
  Batch batch;
  const auto bad = batches->next(batch);
  ASSERT_FALSE(bad.has_value());
  EXPECT_NE(bad.error().message.find("none of the 4 images of batch 0 can be used; the first: damaged PNG"),
            std::string::npos)
      << bad.error().message;
  const auto good = batches->next(batch);
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(batch.labels, (std::vector<float>{4, 5, 6, 7}));
}

TEST_F(ImageDamageTest, AFileThatBecomesShorterIsNoCrash) {
  write(40);
  auto given = options();
  given.preprocess_threads = 0;
  const auto batches = open(given);
  Batch batch;
  ASSERT_TRUE(*batches->next(batch));
  std::filesystem::resize_file(path(), 200);
  const auto next = batches->next(batch);
  ASSERT_FALSE(next.has_value());
  EXPECT_NE(next.error().message.find("was it written anew while it was read?"), std::string::npos)
      << next.error().message;
}

TEST_F(ImageDamageTest, AFileThatIsWrittenWhileItIsReadIsAnErrorOnceRecordsDoNotFit) {
  write(40);
  // Some file systems keep times to some milliseconds only.
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(path(), now - std::chrono::hours(1));
  auto given = options();
  given.preprocess_threads = 0;
  const auto batches = open(given);
  Batch batch;
  ASSERT_TRUE(*batches->next(batch));
  const auto bytes = std::filesystem::file_size(path());
  std::ofstream(path(), std::ios::binary) << std::string(bytes, 'x');
  const auto next = batches->next(batch);
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().code, ErrorCode::io);
  const std::string& message = next.error().message;
  EXPECT_EQ(message.find(path() + ": was written anew while it was read; record 4 was at byte "), 0U)
      << message;
  EXPECT_NE(message.find("rename it instead, and start again"), std::string::npos) << message;
}

TEST_F(ImageDamageTest, AFileThatIsReplacedStaysUntilItIsClosed) {
  write(8);
  auto given = options();
  given.preprocess_threads = 0;
  const auto batches = open(given);
  Batch batch;
  ASSERT_TRUE(*batches->next(batch));
  write(1);  // under another name, and renamed
  ASSERT_TRUE(*batches->next(batch));
  EXPECT_EQ(batch.labels, (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(open(given)->summary().images, 1);
}

TEST_F(ImageDamageTest, AFileThatWasCutSaysWhere) {
  write(8);
  const auto places = readRecordIndex(folder_.file("a.idx"), std::int64_t{1} << 40);
  ASSERT_TRUE(places.has_value());
  const Bytes cut = places->places[6].offset + 30;
  std::filesystem::resize_file(path(), static_cast<std::uintmax_t>(cut));
  const auto with_index = openImageRecords(*session_, options());
  ASSERT_FALSE(with_index.has_value());
  EXPECT_NE(with_index.error().message.find("a.idx: line 8: offset "), std::string::npos)
      << with_index.error().message;
  std::filesystem::remove(folder_.file("a.idx"));
  const auto batches = open(options());
  EXPECT_EQ(labelsOf(epoch(*batches)), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const std::string problems = batches->summary().problems("a.rec");
  EXPECT_NE(
      problems.find(fmt::format("at byte {}: the file ends after 30 of at least ", places->places[6].offset)),
      std::string::npos)
      << problems;
}

TEST_F(ImageDamageTest, AnArrayOfAnotherShapeIsRefused) {
  write(4);
  const auto batches = open(options());
  Batch batch;
  ASSERT_TRUE(*batches->next(batch));
  NDArray other = NDArray::empty(*session_, {4, 3, 8, 8}, MemoryTag::data);
  const Status status = takeImages(batch, other);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(
      status.error().message,
      "a batch of 4x3x8x12 of float32 on cpu(0) does not fit into an array of 4x3x8x8 of float32 on cpu(0)");
}

TEST_F(ImageDamageTest, ParametersOutOfRangeAreNamed) {
  write(4);
  const auto with = [&](auto change) {
    auto given = options();
    change(given);
    return errorOf(given);
  };
  EXPECT_EQ(with([](auto& o) { o.batch_size = 0; }), "batch_size is 0: 1 to 1000000 are allowed");
  EXPECT_EQ(with([](auto& o) { o.part_index = 1; }), "part_index is 1: 0 to 0 are allowed");
  EXPECT_EQ(with([](auto& o) { o.std_g = 0; }), "std_g is 0: must be above 0");
  EXPECT_EQ(with([](auto& o) { o.augment.inter_method = 7; }),
            "inter_method is 7: 0 to 4, 9 and 10 are allowed");
  EXPECT_EQ(with([](auto& o) { o.preprocess_threads = -1; }),
            "prefetch_threads is -1: 0 to 1024 are allowed");
  EXPECT_NE(with([](auto& o) { o.data_shape = {2, 8, 8}; }).find("data_shape is 2x8x8"), std::string::npos);
  EXPECT_NE(
      with([](auto& o) { o.path_imgrec = "/nonexistent.rec"; }).find("/nonexistent.rec: cannot be opened"),
      std::string::npos);
  std::ofstream(folder_.file("empty.rec")) << "";
  EXPECT_NE(with([&](auto& o) { o.path_imgrec = folder_.file("empty.rec"); }).find("there are no records"),
            std::string::npos);
}

}  // namespace
}  // namespace pitwall::data::image_damage_test
