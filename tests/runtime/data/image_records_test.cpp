// Batches of images from record files: contents, order, parts, augmentation, memory, and the trace.
#include "runtime/image_records.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/runtime/data/image_records_fixture.h"
#include "tests/support/memory_sink.h"

namespace pitwall::data::image_records_test {
namespace {

using ImageRecordsTest = ImageRecordsFixture;

TEST_F(ImageRecordsTest, GivesEveryImageInOrder) {
  for (const bool indexed : {true, false}) {
    std::filesystem::remove(folder_.file("a.idx"));
    write(10, {}, 1, indexed);
    const auto batches = open(options());
    for (int e = 0; e < 2; ++e, batches->reset()) {
      const auto all = epoch(*batches);
      ASSERT_EQ(all.size(), 3U);
      EXPECT_EQ(labelsOf(all), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
      EXPECT_EQ(all[2].labels, (std::vector<float>{8, 9, 0, 1})) << "filled from the start";
      EXPECT_EQ(all[2].padding, 2);
      EXPECT_EQ(at(all[1].pixels, 2, 0, 3, 5), 6);
      EXPECT_EQ(at(all[1].pixels, 2, 1, 3, 5), 5);
      EXPECT_EQ(at(all[1].pixels, 2, 2, 3, 5), 3);
    }
    EXPECT_EQ(batches->summary().images, 10);
    EXPECT_EQ(batches->summary().problems("a.rec"), "");
  }
}

TEST_F(ImageRecordsTest, WithoutRoundBatchTheLastIsSmaller) {
  write(10);
  auto given = options();
  given.round_batch = false;
  const auto batches = open(given);
  const auto all = epoch(*batches);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].items, 2);
  EXPECT_EQ(all[2].pixels.size(), 2U * 3 * 8 * 12);
}

TEST_F(ImageRecordsTest, MeanScaleAndDeviation) {
  write(4);
  auto given = options();
  given.mean_g = 2;
  given.std_g = 4;
  given.scale = 0.5;
  const auto batches = open(given);
  const auto all = epoch(*batches);
  EXPECT_FLOAT_EQ(at(all[0].pixels, 3, 1, 0, 10), (10 - 2) * 0.5F / 4);
  EXPECT_FLOAT_EQ(at(all[0].pixels, 3, 0, 0, 10), 1.5F);
}

TEST_F(ImageRecordsTest, BytesAsDecoded) {
  write(4);
  auto given = options();
  given.dtype = DType::uint8;
  given.mean_g = 50;
  const auto batches = open(given);
  const auto all = epoch(*batches);
  ASSERT_EQ(all[0].pixels.size(), 4U * 3 * 8 * 12);
  EXPECT_EQ(at(all[0].pixels, 3, 1, 2, 11), 11);
}

TEST_F(ImageRecordsTest, CropsAndMirrors) {
  write(1);
  auto given = options(1);
  given.data_shape = {3, 4, 6};
  given.augment.mirror = true;
  const auto centre = open(given);
  const auto all = epoch(*centre);
  EXPECT_EQ(at(all[0].pixels, 0, 1, 0, 0, 4, 6), 8) << "columns 3 to 8, mirrored";
  EXPECT_EQ(at(all[0].pixels, 0, 2, 0, 0, 4, 6), 2) << "rows 2 to 5";
  given.augment = {.rand_crop = true};
  const auto random = open(given);
  std::set<float> seen;
  for (int e = 0; e < 40; ++e, random->reset()) seen.insert(at(epoch(*random)[0].pixels, 0, 1, 0, 0, 4, 6));
  EXPECT_EQ(seen, (std::set<float>{0, 1, 2, 3, 4, 5, 6})) << "every place, whole columns";
}

TEST_F(ImageRecordsTest, ResizesTheShorterSide) {
  write(1);
  auto given = options(1);
  given.data_shape = {3, 16, 16};
  given.augment.resize = 16;
  const auto batches = open(given);
  const auto all = epoch(*batches);
  // The 12 x 8 image has 24 x 16 pixels, of which columns 4 to 19 are taken: u = (x + 4.5) / 2 - 0.5.
  EXPECT_NEAR(at(all[0].pixels, 0, 1, 0, 4, 16, 16), 3.75, 0.51);
  EXPECT_NEAR(at(all[0].pixels, 0, 2, 15, 0, 16, 16), 7, 0.01);
}

TEST_F(ImageRecordsTest, ThreadsAndDepthChangeNothing) {
  write(23);
  auto given = options(5);
  given.shuffle = true;
  given.seed = 3;
  given.data_shape = {3, 6, 6};
  given.augment = {.resize = 7,
                   .rand_crop = true,
                   .rand_mirror = true,
                   .brightness = 0.4F,
                   .contrast = 0.3F,
                   .saturation = 0.2F,
                   .random_h = 10,
                   .random_s = 10,
                   .random_l = 10,
                   .pca_noise = 0.1F};
  std::vector<std::vector<Taken>> first;
  for (const auto& [threads, depth] : {std::pair{0, 1}, {1, 1}, {2, 3}, {5, 8}}) {
    given.preprocess_threads = threads;
    given.prefetch_buffer = depth;
    const auto batches = open(given);
    for (std::size_t e = 0; e < 2; ++e, batches->reset()) {
      auto all = epoch(*batches);
      if (first.size() == e) {
        first.push_back(std::move(all));
        continue;
      }
      ASSERT_EQ(all.size(), first[e].size());
      for (std::size_t b = 0; b < all.size(); ++b) {
        EXPECT_EQ(all[b].labels, first[e][b].labels);
        EXPECT_EQ(all[b].pixels, first[e][b].pixels) << threads << " threads, batch " << b;
      }
    }
  }
  EXPECT_NE(first[0][0].pixels, first[1][0].pixels);
}

TEST_F(ImageRecordsTest, ShufflesByRecordAndByChunk) {
  write(60);
  auto given = options(10);
  given.shuffle = true;
  for (const int chunk : {0, 1}) {
    given.shuffle_chunk_size = chunk;
    const auto batches = open(given);
    const auto one = labelsOf(epoch(*batches));
    batches->reset();
    const auto two = labelsOf(epoch(*batches));
    EXPECT_EQ(std::set<float>(one.begin(), one.end()).size(), 60U);
    EXPECT_NE(one, two);
    given.seed = 9;
    EXPECT_NE(labelsOf(epoch(*open(given))), one) << "another seed";
    given.seed = 0;
    EXPECT_EQ(labelsOf(epoch(*open(given))), one) << "the same seed";
  }
}

TEST_F(ImageRecordsTest, PartsAreDisjointAndComplete) {
  write(11);
  std::vector<float> all;
  for (int part = 0; part < 3; ++part) {
    auto given = options(2);
    given.num_parts = 3;
    given.part_index = part;
    const auto labels = labelsOf(epoch(*open(given)));
    EXPECT_GE(labels.size(), 3U);
    all.insert(all.end(), labels.begin(), labels.end());
  }
  EXPECT_EQ(all, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST_F(ImageRecordsTest, SeveralLabelsAndLists) {
  write(4, {}, 3);
  auto given = options();
  given.label_width = 3;
  EXPECT_EQ(epoch(*open(given))[0].labels, (std::vector<float>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
  given.label_width = 4;
  Batch batch;
  const auto few = open(given);
  const auto more = few->next(batch);
  ASSERT_FALSE(more.has_value());
  EXPECT_NE(more.error().message.find("record 0 has 3 labels: label_width 4 is too large"), std::string::npos)
      << more.error().message;
  std::ofstream(folder_.file("a.lst")) << "0\t10\tx.png\n1\t11\ty.png\n2\t12.5\ta b.png\n3\t13\tz.png\n";
  given.label_width = 1;
  given.path_imglist = folder_.file("a.lst");
  EXPECT_EQ(epoch(*open(given))[0].labels, (std::vector<float>{10, 11, 12.5, 13}));
  std::ofstream(folder_.file("a.lst")) << "0\t10\tx.png\none\t11\ty.png\n";
  EXPECT_NE(errorOf(given).find("a.lst: line 2: must be a number"), std::string::npos);
}

TEST_F(ImageRecordsTest, EndsAtAnyMoment) {
  write(64);
  auto given = options(2);
  for (const int taken : {0, 1, 3, 32}) {
    const auto batches = open(given);
    Batch batch;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(*batches->next(batch));
    if (taken == 3) batches->reset();
  }
}

TEST_F(ImageRecordsTest, MemoryIsReused) {
  write(12);
  const auto batches = open(options());
  NDArray data = NDArray::empty(*session_, {4, 3, 8, 12}, MemoryTag::data);
  Bytes reserved = 0;
  for (int e = 0; e < 12; ++e, batches->reset()) {
    Batch batch;
    for (int b = 0; b < 3; ++b) {
      ASSERT_TRUE(*batches->next(batch));
      const void* made = batch.block.data();
      ASSERT_TRUE(takeImages(batch, data).has_value());
      EXPECT_EQ(batch.block.size(), 0) << "the array has it";
      ASSERT_TRUE(data.waitToRead().has_value());
      EXPECT_NE(made, nullptr);
    }
    if (e == 3) reserved = session_->storage().reservedBytes();
    if (e > 3) {
      EXPECT_LE(session_->storage().reservedBytes(), reserved + 2 * 4 * 3 * 8 * 12 * 4);
    }
  }
}

TEST_F(ImageRecordsTest, BatchesAreInMemoryOfTheGivenDevice) {
  write(8);
  auto given = options();
  given.device = cpu(1);
  auto batches = openImageRecords(*session_, given).value();
  Batch batch;
  ASSERT_TRUE(*batches->next(batch));
  EXPECT_EQ(batch.device, cpu(1));
  EXPECT_GE(session_->storage(cpu(1)).value()->reservedBytes(), batch.block.size());
  NDArray elsewhere = NDArray::empty(*session_, batch.image_shape, MemoryTag::data);
  EXPECT_FALSE(takeImages(batch, elsewhere).has_value());
  const auto taken = takeImages(*session_, batch);
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_EQ(taken->device(), cpu(1));
  given.device = gpu(0);
  EXPECT_EQ(openImageRecords(*session_, given).error().message,
            "device is gpu(0): batches are made by the CPU; use pinned(0), and copy them to the GPU");
}

TEST_F(ImageRecordsTest, TheTraceHasEachPartOfTheWork) {
  write(8, {5});
  auto sink = std::make_unique<test::MemorySink>();
  test::MemorySink& trace = *sink;
  const auto batches = open(options());
  ASSERT_TRUE(session_->profiler().start(std::move(sink)).has_value());
  epoch(*batches);
  batches->reset();
  epoch(*batches);
  ASSERT_TRUE(session_->profiler().flush().has_value());
  std::map<std::string, int> count;
  std::map<std::string, std::int64_t> values;
  for (const auto& [track, event] : trace.all_events) {
    ++count[trace.text(event.name)];
    values[trace.text(event.name)] += event.value;
  }
  EXPECT_GE(count["make batch"], 2);
  EXPECT_GE(count["read"], 8);
  EXPECT_GE(count["decode"], 8);
  EXPECT_GE(count["augment"], 7);
  EXPECT_GE(count["next batch"], 2);
  EXPECT_GE(count["image skipped"], 1);
  EXPECT_GT(values["read"], count["read"] * 100) << "bytes";
}

}  // namespace
}  // namespace pitwall::data::image_records_test
