// Trains on a record file, which it makes: JPEGs of 500 x 375 pixels, resized and cut to 224 x 224. A step takes a fixed
// time and no CPU, as on an accelerator: --number percent of the time in which one thread decodes its images. How many
// threads make batches, and how far ahead, comes from PITWALL_TUNE_prefetch_threads and PITWALL_TUNE_prefetch_depth. --kind:
//   augment  rotation, shear and changes of color; fixed: none of these
//   cold     small images with a megabyte of metadata each, which leave the memory when they have been read; fixed: they stay
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "runtime/image.h"
#include "runtime/image_records.h"
#include "tests/support/made_photograph.h"
#include "tests/truth/programs/runtime_program.h"

namespace {

using namespace truth;
using Bytestring = std::vector<std::uint8_t>;

constexpr std::int64_t kBatch = 8;

struct Kind {
  bool augments = false, is_cold = false;
  int width = 500, height = 375, different = 64, records = 640;
  std::size_t metadata_bytes = 0;
};

Kind kindOf(const Options& options) {
  if (options.kind == "cold")
    return {.is_cold = true, .width = 240, .height = 230, .records = 320, .metadata_bytes = 1 << 20};
  return {.augments = options.kind == "augment"};
}

// As of a camera: application segments behind the two bytes that begin a JPEG.
void addMetadata(Bytestring& file, std::size_t bytes) {
  Bytestring segments;
  for (; bytes > 0; bytes -= std::min<std::size_t>(bytes, 65000)) {
    const std::size_t length = std::min<std::size_t>(bytes, 65000) + 2;
    for (const std::size_t value : {std::size_t{0xff}, std::size_t{0xe1}, length >> 8U, length & 0xffU})
      segments.push_back(static_cast<std::uint8_t>(value));
    segments.resize(segments.size() + length - 2, 'm');
  }
  file.insert(file.begin() + 2, segments.begin(), segments.end());
}

// Makes the files unless an earlier run has: the records, and the time of a step in milliseconds.
void makeFiles(const Options& options, const Kind& kind) {
  const std::string path = options.folder + "/images";
  if (std::filesystem::exists(path + ".step")) return;
  std::vector<Bytestring> files;
  for (int i = 0; i < kind.different; ++i) {
    const auto image = test::madePhotograph(kind.width, kind.height, static_cast<std::uint32_t>(i));
    files.push_back(must(data::encodeJpeg(image)));
    addMetadata(files.back(), kind.metadata_bytes);
  }
  const auto writer = must(data::RecordWriter::create(path + ".rec", path + ".idx"));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(kind.records); ++i) {
    const Bytestring& file = files[i % files.size()];
    Bytestring record;
    data::appendImageHeader({{static_cast<float>(i % 10)}, i, 0}, record);
    record.insert(record.end(), file.begin(), file.end());
    must(writer->write(i, record));
  }
  must(writer->finish());
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto began = Clock::now();
    for (std::size_t i = 0; i < static_cast<std::size_t>(kBatch); ++i) must(data::decodeImage(files[i]));
    least = std::min(least, Milliseconds(Clock::now() - began).count());
  }
  std::ofstream(path + ".step") << least * options.number / 100 << '\n';
}

// Drops a file from memory, and its parts again when they have been read.
class Forgetting {
 public:
  explicit Forgetting(const std::string& path)
      : bytes_(static_cast<off_t>(std::filesystem::file_size(path))), file_(open(path.c_str(), O_RDONLY)) {
    // Pages that are not on the disk yet would stay.
    if (file_ < 0 || fsync(file_) != 0 || posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED) != 0)
      die("images.rec");
    thread_ = std::thread([this] { work(); });
  }
  ~Forgetting() {
    stopping_ = true;
    thread_.join();
    close(file_);
  }
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

  // This share of an epoch has been read.
  void read(double share) { read_ = static_cast<off_t>(share * static_cast<double>(bytes_)); }

 private:
  void work() {
    for (off_t done = 0; !stopping_; sleepFor(Milliseconds(2))) {
      const off_t read = read_;
      if (read < done) {
        posix_fadvise(file_, done, bytes_ - done, POSIX_FADV_DONTNEED);
        done = 0;
      }
      if (read > done) posix_fadvise(file_, done, read - done, POSIX_FADV_DONTNEED);
      done = read;
    }
  }

  const off_t bytes_;
  const int file_;
  std::atomic<off_t> read_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

data::ImageRecordOptions inputOf(const std::string& path, const Kind& kind, bool fixed) {
  data::ImageRecordOptions input;
  input.path_imgrec = path;
  input.batch_size = kBatch;
  input.shuffle = !kind.is_cold;
  input.augment.rand_crop = input.augment.rand_mirror = true;
  if (!kind.is_cold) input.augment.resize = 256;
  if (kind.augments && !fixed) {
    input.augment.max_rotate_angle = 15;
    input.augment.max_shear_ratio = 0.1F;
    input.augment.random_h = input.augment.random_s = input.augment.random_l = 30;
    input.augment.pca_noise = 0.1F;
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  const Kind kind = kindOf(options);
  makeFiles(options, kind);
  const std::string path = options.folder + "/images.rec";
  double step_ms = 0;
  std::ifstream(options.folder + "/images.step") >> step_ms;
  std::optional<Forgetting> forgetting;
  if (kind.is_cold && !options.fixed) forgetting.emplace(path);
  TimedProgram program;
  const auto batches = must(data::openImageRecords(program.session(), inputOf(path, kind, options.fixed)));
  data::Batch batch;
  std::int64_t taken = 0;  // images of this epoch
  repeat(options, [&](long) {
    program.session().markIteration(kBatch);
    if (!must(batches->next(batch))) {
      batches->reset();
      must(batches->next(batch));
      taken = 0;
    }
    taken += kBatch;
    if (forgetting) forgetting->read(static_cast<double>(taken) / kind.records);
    program.push("Layer", Phase::forward, Milliseconds(step_ms));
    program.wait();
  });
  must(program.session().finish());
}
