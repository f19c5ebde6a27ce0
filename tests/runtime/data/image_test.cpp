// Decoding, and what of an image is decoded: the parts and reduced sizes agree with the whole image.
#include "runtime/image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runtime/data/decode/decoder.h"
#include "runtime/data/random.h"
#include "runtime/data/resample.h"
#include "runtime/data/store_planes.h"

namespace pitwall::data::image_test {
namespace {

// Smooth, with some noise.
Image pattern(int width, int height, int channels = 3) {
  Image image{width, height, channels, {}};
  Random random(3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        image.pixels.push_back(static_cast<std::uint8_t>(
            110 + 60 * std::sin(0.03 * x + c) + 50 * std::cos(0.05 * y - c) + random.between(0, 20)));
  return image;
}

using File = std::vector<std::uint8_t>;

File jpegOf(const Image& image, int quality = 95) {
  auto file = encodeJpeg(image, quality);
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file.has_value() ? *file : File();
}

double meanDifference(const Image& a, const Image& b) {
  EXPECT_EQ(a.pixels.size(), b.pixels.size());
  if (a.pixels.size() != b.pixels.size()) return 1e9;
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(int{a.pixels[i]} - int{b.pixels[i]});
  return sum / static_cast<double>(a.pixels.size());
}

bool hasJpeg() { return makeJpegDecoder() != nullptr; }

TEST(Png, KeepsEveryPixel) {
  if (makePngDecoder() == nullptr) GTEST_SKIP() << "built without libpng";
  for (const int channels : {1, 3}) {
    const Image image = pattern(37, 21, channels);
    const auto file = encodePng(image);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const auto back = decodeImage(*file, channels);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(back->pixels, image.pixels);
  }
}

TEST(Jpeg, IsCloseToWhatWasEncoded) {
  if (!hasJpeg()) GTEST_SKIP() << "built without libjpeg-turbo";
  const Image image = pattern(123, 77);
  const auto back = decodeImage(jpegOf(image));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_LT(meanDifference(image, *back), 8);
  const auto grey = decodeImage(jpegOf(image), 1);
  ASSERT_TRUE(grey.has_value());
  EXPECT_EQ(grey->pixels.size(), 123U * 77U);
  const auto of_grey = decodeImage(jpegOf(pattern(64, 64, 1)), 3);
  ASSERT_TRUE(of_grey.has_value());
  EXPECT_EQ(of_grey->channels, 3);
}

// For any part, what is decoded has the pixels of the whole image.
TEST(Jpeg, APartHasThePixelsOfTheWhole) {
  if (!hasJpeg()) GTEST_SKIP() << "built without libjpeg-turbo";
  const Image image = pattern(203, 151);
  const File file = jpegOf(image);
  ImageReader reader;
  Random random(5);
  for (const int reduce : {1, 2, 4, 8}) {
    Pixels whole;
    ASSERT_TRUE(reader.begin(file).has_value());
    ASSERT_TRUE(reader.read({0, 0, 203, 151, reduce, 3}, whole).has_value());
    EXPECT_EQ(whole.width, (203 + reduce - 1) / reduce);
    for (int i = 0; i < 60; ++i) {
      Wanted wanted{
          static_cast<int>(random.below(203)), static_cast<int>(random.below(151)), 1, 1, reduce, 3};
      wanted.width += static_cast<int>(random.below(static_cast<std::uint64_t>(203 - wanted.left)));
      wanted.height += static_cast<int>(random.below(static_cast<std::uint64_t>(151 - wanted.top)));
      Pixels part;
      ASSERT_TRUE(reader.begin(file).has_value());
      ASSERT_TRUE(reader.read(wanted, part).has_value());
      ASSERT_LE(part.left * reduce, wanted.left);
      ASSERT_GE((part.left + part.width) * reduce, wanted.left + wanted.width);
      const int left = wanted.left / reduce, right = (wanted.left + wanted.width - 1) / reduce;
      const int top = wanted.top / reduce, bottom = (wanted.top + wanted.height - 1) / reduce;
      for (int y = top; y <= bottom; ++y)
        ASSERT_EQ(std::memcmp(part.row(y - part.top) + (left - part.left) * 3, whole.row(y) + left * 3,
                              static_cast<std::size_t>(right - left + 1) * 3),
                  0)
            << "reduce " << reduce << ", row " << y << ", columns " << left << " to " << right;
    }
  }
}

TEST(Jpeg, DamagedFilesAreErrors) {
  if (!hasJpeg()) GTEST_SKIP() << "built without libjpeg-turbo";
  const File file = jpegOf(pattern(64, 64));
  for (const std::size_t kept : {4UL, 20UL, 200UL, file.size() / 2}) {
    const auto cut = decodeImage(std::span(file).first(kept));
    ASSERT_FALSE(cut.has_value()) << kept;
    EXPECT_TRUE(cut.error().message.starts_with("damaged JPEG: ")) << cut.error().message;
  }
  // Any damage is an error or an image, never a crash; and the decoder works afterwards.
  ImageReader reader;
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    File damaged = file;
    for (int d = 0; d < 3; ++d)
      damaged[2 + random.below(damaged.size() - 2)] = static_cast<std::uint8_t>(random.next());
    Pixels pixels;
    if (reader.begin(damaged).has_value()) (void)reader.read({0, 0, 8, 8, 1, 3}, pixels).has_value();
  }
  Pixels pixels;
  ASSERT_TRUE(reader.begin(file).has_value());
  EXPECT_TRUE(reader.read({0, 0, 64, 64, 1, 3}, pixels).has_value());
}

TEST(Jpeg, HostileSizesAreRefused) {
  if (!hasJpeg()) GTEST_SKIP() << "built without libjpeg-turbo";
  File file = jpegOf(pattern(64, 64));
  for (std::size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != 0xff || file[i + 1] != 0xc0) continue;  // SOF0: length, precision, height, width
    file[i + 5] = file[i + 6] = file[i + 7] = file[i + 8] = 0xfe;
    break;
  }
  const auto read = decodeImage(file);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("65278 x 65278 pixels: 1 to 100000000 are supported"),
            std::string::npos)
      << read.error().message;
}

TEST(Images, WhatIsNoImageSaysSo) {
  const std::string text = "hello";
  const auto read = decodeImage({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, "neither JPEG nor PNG nor WebP");
  EXPECT_FALSE(decodeImage({}).has_value());
}

TEST(Png, DamagedFilesAreErrors) {
  if (makePngDecoder() == nullptr) GTEST_SKIP() << "built without libpng";
  const auto file = encodePng(pattern(40, 30));
  Random random(11);
  int failed = 0;
  for (int i = 0; i < 200; ++i) {
    File damaged = *file;
    damaged[8 + random.below(damaged.size() - 8)] ^= static_cast<std::uint8_t>(1 + random.below(255));
    failed += !decodeImage(damaged).has_value();
  }
  EXPECT_GT(failed, 150);
  EXPECT_FALSE(decodeImage(std::span(*file).first(file->size() / 2)).has_value());
}

TEST(Webp, ReadsAFile) {
  if (makeWebpDecoder() == nullptr) GTEST_SKIP() << "built without libwebp";
  // One pixel.
  const File file = {0x52, 0x49, 0x46, 0x46, 0x22, 0x0,  0x0,  0x0, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50,
                     0x38, 0x20, 0x16, 0x0,  0x0,  0x0,  0x30, 0x1, 0x0,  0x9d, 0x1,  0x2a, 0x1,  0x0,
                     0x1,  0x0,  0xe,  0xc0, 0xfe, 0x25, 0xa4, 0x0, 0x3,  0x70, 0x0,  0x0,  0x0,  0x0};
  const auto image = decodeImage(file);
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(image->width, 1);
  EXPECT_EQ(image->height, 1);
  EXPECT_EQ(decodeImage(file, 1)->pixels.size(), 1U);
  EXPECT_FALSE(decodeImage(std::span(file).first(20)).has_value());
}

// Of the value of a tent at each pixel's centre, written again.
TEST(Resize, LinearMatchesTheFormula) {
  const Image image = pattern(31, 17);
  for (const auto& [width, height] : {std::pair{62, 34}, {19, 23}, {31, 17}, {5, 3}}) {
    const Image resized = resizeImage(image, width, height, 1);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double u = (x + 0.5) * 31 / width - 0.5, v = (y + 0.5) * 17 / height - 0.5;
        const auto at = [&](int column, int row) {
          column = std::clamp(column, 0, 30), row = std::clamp(row, 0, 16);
          return static_cast<double>(image.pixels[static_cast<std::size_t>((row * 31 + column) * 3)]);
        };
        const int left = static_cast<int>(std::floor(u)), top = static_cast<int>(std::floor(v));
        const double expected =
            (at(left, top) * (1 - u + left) + at(left + 1, top) * (u - left)) * (1 - v + top) +
            (at(left, top + 1) * (1 - u + left) + at(left + 1, top + 1) * (u - left)) * (v - top);
        ASSERT_NEAR(resized.pixels[static_cast<std::size_t>((y * width + x) * 3)], expected, 1.6);
      }
  }
}

TEST(Resize, EachChannelIsLikeAGreyImage) {
  const Image image = pattern(33, 20);
  for (const auto& [width, height] : {std::pair{66, 41}, {20, 7}, {1, 1}, {2, 30}}) {
    const Image all = resizeImage(image, width, height, 1);
    for (std::size_t c = 0; c < 3; ++c) {
      Image one{33, 20, 1, {}};
      for (std::size_t i = c; i < image.pixels.size(); i += 3) one.pixels.push_back(image.pixels[i]);
      const Image grey = resizeImage(one, width, height, 1);
      for (std::size_t i = 0; i < grey.pixels.size(); ++i)
        ASSERT_EQ(all.pixels[3 * i + c], grey.pixels[i]) << width << " x " << height << ", channel " << c;
    }
  }
}

TEST(Resize, EveryFilterKeepsAnEvenImage) {
  const Image even{20, 10, 3, std::vector<std::uint8_t>(600, 77)};
  for (const int method : {0, 1, 2, 3, 4, 9})
    for (const auto& [width, height] : {std::pair{40, 20}, {7, 3}, {20, 10}, {1, 1}})
      for (const std::uint8_t value : resizeImage(even, width, height, method).pixels)
        ASSERT_EQ(value, 77) << method;
}

TEST(Resize, AreaIsTheMeanOfWhatItCovers) {
  const Image image = pattern(40, 20, 1);
  const Image half = resizeImage(image, 20, 10, 3);
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 20; ++x) {
      const auto at = [&](int c, int r) { return int{image.pixels[static_cast<std::size_t>(r * 40 + c)]}; };
      const double mean =
          (at(2 * x, 2 * y) + at(2 * x + 1, 2 * y) + at(2 * x, 2 * y + 1) + at(2 * x + 1, 2 * y + 1)) / 4.0;
      ASSERT_NEAR(half.pixels[static_cast<std::size_t>(y * 20 + x)], mean, 0.51);
    }
}

TEST(Resize, WarpOfARotationByAQuarterMovesPixels) {
  Pixels from;
  from.width = from.whole.width = 4;
  from.height = from.whole.height = 4;
  from.channels = 1;
  for (int i = 0; i < 16; ++i) from.bytes.push_back(static_cast<std::uint8_t>(i * 10));
  Pixels to;
  to.width = to.height = 4;
  warp(from, {0, 1, 0, -1, 0, 4}, 255, to);  // x' = y, y' = 4 - x
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) EXPECT_EQ(to.row(y)[x], from.row(3 - x)[y]);
  warp(from, {1, 0, 100, 0, 1, 0}, 255, to);
  for (const std::uint8_t value : to.bytes) EXPECT_EQ(value, 255) << "outside";
}

TEST(StorePlanes, EachValueIsThatOfItsPixel) {
  const ChannelScale scale{{1, 20, -3.5F}, {0.5F, 1.0F / 3, -7}};
  for (const int channels : {1, 3})
    for (int width = 1; width < 20; ++width) {
      const Image image = pattern(width, 3, channels);
      Pixels pixels;
      pixels.width = width, pixels.height = 3, pixels.channels = channels, pixels.bytes = image.pixels;
      for (const bool mirror : {false, true}) {
        std::vector<float> values(image.pixels.size());
        std::vector<std::uint8_t> bytes(image.pixels.size());
        storePlanes(pixels, mirror, scale, values.data());
        storePlanes(pixels, mirror, bytes.data());
        for (int c = 0; c < channels; ++c)
          for (int y = 0; y < 3; ++y)
            for (int x = 0; x < width; ++x) {
              const auto to = static_cast<std::size_t>((c * 3 + y) * width + x),
                         channel = static_cast<std::size_t>(c);
              const std::uint8_t pixel = pixels.row(y)[(mirror ? width - 1 - x : x) * channels + c];
              ASSERT_EQ(bytes[to], pixel);
              ASSERT_EQ(values[to], (static_cast<float>(pixel) - scale.mean[channel]) * scale.factor[channel])
                  << width << " wide, column " << x << ", channel " << c << (mirror ? ", mirrored" : "");
            }
      }
    }
}

}  // namespace
}  // namespace pitwall::data::image_test
