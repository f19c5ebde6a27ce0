// Images that are files of a folder, through the same iterator as those of a record file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/image_records.h"
#include "tests/runtime/data/image_records_fixture.h"

namespace pitwall::data::image_folder_test {
namespace {

class ImageFolderTest : public ImageRecordsFixture {
 protected:
  // Image i is of 12 x 8 pixels, red i, in class i % 2; "cat" comes before "dog".
  void make(int count) const {
    for (int i = 0; i < count; ++i) {
      Image image{12, 8, 3, {}};
      for (int p = 0; p < 12 * 8; ++p)
        for (const int value : {i, 0, 0}) image.pixels.push_back(static_cast<std::uint8_t>(value));
      const auto file = encodePng(image);
      ASSERT_TRUE(file.has_value());
      const std::string folder = root() + (i % 2 == 0 ? "/cat" : "/dog");
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/" + std::to_string(i) + ".PNG", std::ios::binary)
          .write(reinterpret_cast<const char*>(file->data()), static_cast<std::streamsize>(file->size()));
    }
    std::ofstream(root() + "/readme.txt") << "no image";
  }
  std::string root() const { return folder_.file("images"); }
  ImageRecordOptions options(std::int64_t batch_size = 4) const {
    ImageRecordOptions given = ImageRecordsFixture::options(batch_size);
    given.path_imgrec.clear();
    given.path_root = root();
    return given;
  }
};

TEST_F(ImageFolderTest, EachFolderIsAClass) {
  make(6);
  const auto batches = open(options(3));
  for (int e = 0; e < 2; ++e, batches->reset()) {
    const auto all = epoch(*batches);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].labels, (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(all[1].labels, (std::vector<float>{1, 1, 1}));
    EXPECT_EQ(at(all[0].pixels, 1, 0, 0, 0), 2);
    EXPECT_EQ(at(all[1].pixels, 0, 0, 0, 0), 1);
  }
}

TEST_F(ImageFolderTest, OrThoseOfAList) {
  make(6);
  auto given = options(2);
  given.path_imglist = folder_.file("a.lst");
  ASSERT_TRUE(writeImageList(given.path_imglist,
                             std::vector<ListedImage>{{9, {5}, "dog/3.PNG"}, {8, {7}, "cat/0.PNG"}})
                  .has_value());
  const auto all = epoch(*open(given));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].labels, (std::vector<float>{5, 7}));
  EXPECT_EQ(at(all[0].pixels, 0, 0, 0, 0), 3);
}

TEST_F(ImageFolderTest, MissingAndDamagedFilesAreSkippedAndNamed) {
  make(6);
  auto given = options(3);
  given.path_imglist = folder_.file("a.lst");
  ASSERT_TRUE(writeImageList(given.path_imglist,
                             std::vector<ListedImage>{
                                 {0, {0}, "cat/0.PNG"}, {1, {1}, "dog/none.PNG"}, {2, {2}, "readme.txt"}})
                  .has_value());
  const auto batches = open(given);
  EXPECT_EQ(epoch(*batches)[0].labels, (std::vector<float>{0, 0, 0}));
  const std::string problems = batches->summary().problems("images");
  EXPECT_NE(problems.find("images: 2 images skipped; " + root() + "/dog/none.PNG: "), std::string::npos)
      << problems;
  EXPECT_NE(problems.find("cannot be opened: No such file"), std::string::npos) << problems;
  EXPECT_NE(problems.find("; " + root() + "/readme.txt: "), std::string::npos) << problems;
}

TEST_F(ImageFolderTest, WhatCannotBeReadIsNamed) {
  const auto error = [this](const ImageRecordOptions& given) {
    const auto opened = openImageRecords(*session_, given);
    return opened.has_value() ? std::string() : opened.error().message;
  };
  EXPECT_EQ(error(options()),
            root() + ": cannot be read: No such file or directory; name a folder of images");
  std::filesystem::create_directory(root());
  EXPECT_EQ(error(options()), root() + ": there are no images");
  auto given = options();
  given.path_imgrec = "a.rec";
  EXPECT_EQ(error(given),
            "name a record file in path_imgrec, or a folder of images in path_root, and not both");
  given = options();
  given.shuffle_chunk_size = 1;
  EXPECT_EQ(error(given), "shuffle_chunk_size is 1: must be 0 with path_root");
}

TEST(ImageList, RoundTripsAndIsCompleteOrAsItWas) {
  auto folder = TemporaryFolder::create("a test");
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->file("a.lst");
  const std::vector<ListedImage> images = {{3, {1.5F, -2}, "a b/c.jpg"}, {1, {0}, "d.png"}};
  ASSERT_TRUE(writeImageList(path, images).has_value());
  const auto read = readImageList(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].id, 3U);
  EXPECT_EQ((*read)[0].labels, (std::vector<float>{1.5F, -2}));
  EXPECT_EQ((*read)[0].path, "a b/c.jpg");
  const Status refused = writeImageList(path, std::vector<ListedImage>{{7, {0}, "a\tb"}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("the name of image 7 has a tabulator"), std::string::npos);
  EXPECT_EQ(readImageList(path)->size(), 2U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder->path()), {}), 1);
  EXPECT_FALSE(writeImageList("/dev/full", images).has_value());
}

}  // namespace
}  // namespace pitwall::data::image_folder_test
