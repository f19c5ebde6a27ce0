// Batches of images from a record file: read, decoded and augmented by several threads ahead of the training.
// MXNet's ImageRecordIter, with the names of its parameters.
//
//   ImageRecordOptions options;
//   options.path_imgrec = "train.rec";
//   options.augment = {.resize = 256, .rand_crop = true, .rand_mirror = true};
//   auto batches = PITWALL_TRY(openImageRecords(session, options));
//   Batch batch;
//   while (PITWALL_TRY(batches->next(batch))) PITWALL_TRY(takeImages(batch, data));   // no copy
//
// Images and their order depend on the seeds and the epoch alone, not on threads. The trace has each "read" (its
// value is the bytes), "decode" and "augment" within "make batch", and instants "image skipped".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"
#include "runtime/data.h"
#include "runtime/record_file.h"
#include "runtime/session.h"

namespace pitwall::data {

// What is done to an image after decoding, in this order. Lengths are pixels. Random numbers are drawn anew for each
// image and epoch; 0 or -1 switches a step off.
struct ImageAugmentation {
  int resize = -1;  // the shorter side; the aspect ratio stays
  // A part with a random share of the area and aspect ratio (width over height), which then has the size of data_shape.
  bool random_resized_crop = false;
  float min_random_area = 1, max_random_area = 1;
  float min_aspect_ratio = 1, max_aspect_ratio = 1;
  // Rotation, shear and scale about the centre; fill_value is around the image.
  int max_rotate_angle = 0;  // degrees, both directions
  int rotate = -1;           // degrees, always; 0 to 359
  float max_shear_ratio = 0;
  float min_random_scale = 1, max_random_scale = 1;
  int pad = 0;           // on each side
  int fill_value = 255;  // of all channels
  // data_shape is cut out at a random place; else of the centre. With the crop sizes a random size is cut out, and
  // then has the size of data_shape. An image that is smaller than data_shape is enlarged.
  bool rand_crop = false;
  int min_crop_size = -1, max_crop_size = -1;
  // 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 area to reduce and cubic to enlarge, 10 random.
  int inter_method = 1;
  bool rand_mirror = false, mirror = false;            // left and right; half of the images, or all
  float brightness = 0, contrast = 0, saturation = 0;  // factors of 1 - value to 1 + value
  int random_h = 0, random_s = 0,
      random_l = 0;     // hue in half degrees, saturation, lightness in 0..255; both directions
  float pca_noise = 0;  // standard deviation along the principal components of ImageNet's colours
};

struct ImageRecordOptions {
  std::string path_imgrec;
  // Instead of a record file: a folder of images. With path_imglist those of the list; else all in its subfolders, each of
  // which is a class, numbered in the order of names. As MXNet's ImageIter and ImageFolderDataset.
  std::string path_root;
  std::string path_imgidx;   // empty: path_imgrec with .idx if there is such a file, else the heads are read
  std::string path_imglist;  // empty: labels of the records; else of this list, by the records' id
  std::array<int, 3> data_shape = {3, 224, 224};  // channels (1 or 3), height, width
  std::int64_t batch_size = 128;
  int label_width = 1;
  // Declared as tunables prefetch_threads and prefetch_depth.
  int preprocess_threads = 4;  // 0: on the caller's thread
  int prefetch_buffer = 4;     // batches ahead
  bool shuffle = false;
  std::uint64_t seed = 0;
  std::uint64_t seed_aug = 0;  // of the augmentation; 0: seed
  // MB; records are shuffled within parts of this size, and the parts. 0: all records; for path_root always
  int shuffle_chunk_size = 0;
  std::uint64_t shuffle_chunk_seed = 0;  // of the order of the parts
  int num_parts = 1, part_index = 0;     // reads one of as many equal parts of the file
  bool round_batch = true;  // the last batch is filled with records of the epoch's start; else it is smaller
  DType dtype = DType::float32;              // or uint8: as decoded, without mean, std and scale
  float mean_r = 0, mean_g = 0, mean_b = 0;  // value = (pixel - mean) * scale / std; pixels are 0..255
  float std_r = 1, std_g = 1, std_b = 1, scale = 1;
  ImageAugmentation augment;
  Device device = {};  // whose memory the batches are in: a cpu, or pinned for copies to a GPU
};

// An image that cannot be decoded is skipped: the next one of its batch takes its place.
struct SkippedImage {
  std::uint64_t key = 0;  // of the record
  Bytes offset = 0;
  std::string path;  // of the image, where each is a file
  std::string what;
};

struct ImageRecordSummary {
  std::int64_t images = 0;                  // of an epoch, of this part
  RecordDamages damages;                    // of the record file, where there is no index
  std::int64_t skipped = 0;                 // different images so far
  std::vector<SkippedImage> first_skipped;  // the first 16 by offset
  // "train.rec: 2 images skipped; record 7 at byte 480: damaged JPEG: ..."; with the damage. Empty if all is well.
  std::string problems(const std::string& path) const;
};

class ImageRecordIterator : public BatchIterator {
 public:
  virtual ImageRecordSummary summary() const = 0;  // any thread
};

// A line of a list of images, as im2rec reads and writes it.
struct ListedImage {
  std::uint64_t id = 0;
  std::vector<float> labels;
  std::string path;
};

struct ImageSearch {
  std::vector<std::string> extensions = {".jpeg", ".jpg", ".png", ".webp"};
  bool recursive = true;  // each folder is a class, numbered in the order of names; else all labels are 0
};

// The images below a folder, in the order of their paths, which are relative to it. Errors: notFound, io.
Result<std::vector<ListedImage>> findImages(const std::string& root, const ImageSearch& search = {});

// Errors: notFound, io; invalidInput naming the line.
Result<std::vector<ListedImage>> readImageList(const std::string& path);

// Replaces the file at the path when all is written, and leaves it as it is otherwise. Errors: invalidInput for a path
// that is no regular file, and for an image whose name has a tabulator or an end of line; io.
Status writeImageList(const std::string& path, std::span<const ListedImage> images);

// The session outlives the iterator. Errors: invalidInput naming the parameter; those of RecordFile and of the index;
// notFound when the file has no records. Errors of next(): io, also for a file that is written while it is read;
// invalidInput when no image of a batch can be decoded.
Result<std::unique_ptr<ImageRecordIterator>> openImageRecords(Session& session,
                                                              const ImageRecordOptions& options);

}  // namespace pitwall::data
