// A record file of small PNG images, and what an iterator gives of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/temporary.h"
#include "runtime/data/decode/decoder.h"
#include "runtime/image.h"
#include "runtime/image_records.h"

namespace pitwall::data {

class ImageRecordsFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (makePngDecoder() == nullptr) GTEST_SKIP() << "built without libpng";
    auto folder = TemporaryFolder::create("a test");
    ASSERT_TRUE(folder.has_value());
    folder_ = std::move(folder).value();
    SessionOptions options;
    options.backend = "null";
    auto session = Session::open(options);
    ASSERT_TRUE(session.has_value()) << session.error().message;
    session_ = std::move(session).value();
  }

  // Image i is of 12 x 8 pixels: red i, green the column, blue the row. Label i. Those of `damaged` are no images.
  void write(int count, const std::set<int>& damaged = {}, std::size_t labels = 1,
             bool indexed = true) const {
    const auto writer = RecordWriter::create(path(), indexed ? folder_.file("a.idx") : "");
    ASSERT_TRUE(writer.has_value());
    for (int i = 0; i < count; ++i) {
      Image image{12, 8, 3, {}};
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 12; ++x)
          for (const int value : {i, x, y}) image.pixels.push_back(static_cast<std::uint8_t>(value));
      auto file = encodePng(image);
      ASSERT_TRUE(file.has_value());
      if (damaged.contains(i)) file->resize(file->size() / 2);
      std::vector<std::uint8_t> record;
      appendImageHeader({std::vector<float>(labels, static_cast<float>(i)), static_cast<std::uint64_t>(i), 0},
                        record);
      record.insert(record.end(), file->begin(), file->end());
      ASSERT_TRUE((*writer)->write(static_cast<std::uint64_t>(i), record).has_value());
    }
    ASSERT_TRUE((*writer)->finish().has_value());
  }

  std::string path() const { return folder_.file("a.rec"); }
  ImageRecordOptions options(std::int64_t batch_size = 4) const {
    ImageRecordOptions given;
    given.path_imgrec = path();
    given.data_shape = {3, 8, 12};
    given.batch_size = batch_size;
    return given;
  }
  std::unique_ptr<ImageRecordIterator> open(const ImageRecordOptions& given) {
    auto opened = openImageRecords(*session_, given);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened.has_value() ? std::move(opened).value() : nullptr;
  }

  struct Taken {
    std::vector<float> labels, pixels;
    std::int64_t items, padding;
  };
  std::vector<Taken> epoch(ImageRecordIterator& batches) {
    std::vector<Taken> all;
    Batch batch;
    for (;;) {
      const auto more = batches.next(batch);
      EXPECT_TRUE(more.has_value()) << more.error().message;
      if (!more.has_value() || !*more) return all;
      Taken taken{batch.labels, {}, batch.items, batch.padding};
      if (batch.dtype == DType::float32) {
        const auto array = takeImages(*session_, batch);
        EXPECT_TRUE(array.has_value()) << array.error().message;
        const auto values = array->toVector();
        EXPECT_TRUE(values.has_value()) << values.error().message;
        taken.pixels = *values;
      } else {
        const auto* bytes = static_cast<const std::uint8_t*>(batch.block.data());
        taken.pixels.assign(bytes, bytes + batch.block.size());
      }
      all.push_back(std::move(taken));
    }
  }
  static std::vector<float> labelsOf(const std::vector<Taken>& batches) {
    std::vector<float> labels;
    for (const Taken& batch : batches)
      labels.insert(labels.end(), batch.labels.begin(), batch.labels.end() - batch.padding);
    return labels;
  }
  std::string errorOf(const ImageRecordOptions& given) {
    const auto opened = openImageRecords(*session_, given);
    EXPECT_FALSE(opened.has_value());
    return opened.has_value() ? "" : opened.error().message;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Session> session_;
};

// Channel, row, column of an image of a batch.
inline float at(const std::vector<float>& pixels, int image, int channel, int y, int x, int height = 8,
                int width = 12) {
  return pixels[static_cast<std::size_t>(((image * 3 + channel) * height + y) * width + x)];
}

}  // namespace pitwall::data
