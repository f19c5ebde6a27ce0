// Packs images into record files that samples/train_imagenet and MXNet read, with the options of MXNet's im2rec.py.
//
//   im2rec --list --recursive data/train images/     writes data/train.lst
//   im2rec --resize 256 --num-thread 2 data/train images/   writes data/train.rec and data/train.idx
//
// A record file appears when it is complete. Images are prepared by several threads and written in the list's order.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "db/mutex.h"
#include "db/try.h"
#include "db/unfinished.h"
#include "runtime/image.h"
#include "runtime/record_file.h"
#include "samples/im2rec_list.h"

using namespace pitwall;
using namespace pitwall::data;
using Clock = std::chrono::steady_clock;

namespace {

using Bytestring = std::vector<std::uint8_t>;

struct Given {
  std::string prefix, root, encoding = ".jpg";
  im2rec::ListOptions list;
  bool makes_list = false, no_shuffle = false, pass_through = false, center_crop = false, pack_label = false,
       resume = false;
  int resize = 0, quality = 95, threads = 1, color = 1;
};

Result<Bytestring> contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::notFound, path + ": cannot be opened");
  Bytestring bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return fail(ErrorCode::io, path + ": cannot be read");
  return bytes;
}

// The file of an image as it is stored.
Result<Bytestring> prepared(const Given& given, Bytestring file) {
  if (given.pass_through) return file;
  Image image = PITWALL_TRY(decodeImage(file, given.color == 0 ? 1 : 3, given.resize));
  if (given.center_crop) {
    const int side = std::min(image.width, image.height);
    image = cropImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side);
  }
  const int shorter = std::min(image.width, image.height);
  if (given.resize > 0 && shorter != given.resize) {
    const auto scaled = [&](int length) {
      return length == shorter ? given.resize
                               : std::max(1, static_cast<int>(std::int64_t{length} * given.resize / shorter));
    };
    image = resizeImage(image, scaled(image.width), scaled(image.height));
  }
  return given.encoding == ".png" ? encodePng(image) : encodeJpeg(image, given.quality);
}

Result<Bytestring> recordOf(const Given& given, const ListedImage& listed) {
  const std::string path = given.root + "/" + listed.path;
  Bytestring file = PITWALL_TRY(contentsOf(path));
  Result<Bytestring> image = prepared(given, std::move(file));
  if (!image.has_value()) return fail(image.error().code, path + ": " + image.error().message);
  Bytestring record;
  const bool packs = given.pack_label && listed.labels.size() > 1;
  appendImageHeader({packs ? listed.labels : std::vector<float>{listed.labels.empty() ? 0 : listed.labels[0]},
                     listed.id, 0},
                    record);
  record.insert(record.end(), image->begin(), image->end());
  return record;
}

// Threads prepare records ahead of the writer, which takes them in order.
class Preparation {
 public:
  Preparation(const Given& given, const std::vector<ListedImage>& images) : given_(given), images_(images) {
    for (int i = 0; i < given.threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Preparation() {
    {
      const ScopedLock lock(mutex_);
      begun_ = images_.size();
    }
    changed_.notifyAll();
    for (std::thread& thread : threads_) thread.join();
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  Result<Bytestring> next() {
    const ScopedLock lock(mutex_);
    while (slots_.empty() || slots_.front() == nullptr) changed_.wait(mutex_);
    Result<Bytestring> record = std::move(*slots_.front());
    slots_.pop_front();
    ++taken_;
    changed_.notifyAll();
    return record;
  }

 private:
  void work() {
    const ScopedLock lock(mutex_);
    for (;;) {
      while (begun_ < images_.size() && slots_.size() >= static_cast<std::size_t>(8 * given_.threads))
        changed_.wait(mutex_);
      if (begun_ >= images_.size()) return;
      const std::size_t index = begun_++;
      slots_.emplace_back();
      std::unique_ptr<Result<Bytestring>> record;
      {
        const ScopedUnlock unlocked(mutex_);
        record = std::make_unique<Result<Bytestring>>(recordOf(given_, images_[index]));
      }
      slots_[index - taken_] = std::move(record);
      changed_.notifyAll();
    }
  }

  const Given& given_;
  const std::vector<ListedImage>& images_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::size_t begun_ PITWALL_GUARDED_BY(mutex_) = 0, taken_ PITWALL_GUARDED_BY(mutex_) = 0;
  std::deque<std::unique_ptr<Result<Bytestring>>> slots_
      PITWALL_GUARDED_BY(mutex_);  // records taken_ to begun_ - 1
  std::vector<std::thread> threads_;
};

// A line that is replaced on a terminal, else MXNet's line each 1000 images.
class Shown {
 public:
  explicit Shown(std::size_t total) : total_(total) {}
  void update(std::size_t done) {
    const auto now = Clock::now();
    if (terminal_ ? now < next_ && done != total_ : done % 1000 != 0 && done != total_) return;
    next_ = now + std::chrono::milliseconds(200);
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double rate = static_cast<double>(done) / std::max(seconds, 1e-9);
    const auto left = static_cast<long>(static_cast<double>(total_ - done) / rate);
    if (terminal_)
      printf("\r%zu of %zu images  %.0f images/s  %ld:%02ld left ", done, total_, rate, left / 60, left % 60);
    else
      printf("time: %.3f  count: %zu\n", seconds, done);
    if (terminal_ && done == total_) printf("\n");
    fflush(stdout);
  }

 private:
  const std::size_t total_;
  const bool terminal_ = isatty(1) == 1;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point next_ = began_;
};

// Images that cannot be used are named and left out.
Result<std::size_t> pack(const Given& given, const std::string& list) {
  const std::string stem = list.substr(0, list.size() - 4);
  const auto images = PITWALL_TRY(readImageList(list));
  const auto writer = PITWALL_TRY(RecordWriter::create(stem + ".rec", stem + ".idx"));
  Preparation preparation(given, images);
  Shown shown(images.size());
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const Result<Bytestring> record = preparation.next();
    if (record.has_value()) {
      PITWALL_TRY(writer->write(images[i].id, *record));
    } else {
      fprintf(stderr, "im2rec: left out: %s\n", record.error().message.c_str());
      ++left_out;
    }
    shown.update(i + 1);
  }
  if (left_out == images.size())
    return fail(ErrorCode::invalidInput, list + ": none of its images can be used; nothing is written");
  PITWALL_TRY(writer->finish());
  printf("%s.rec: %zu images, %zu left out\n", stem.c_str(), images.size() - left_out, left_out);
  return left_out;
}

// The lists of the prefix, or the one that it names.
std::vector<std::string> listsOf(const std::string& prefix) {
  namespace fs = std::filesystem;
  if (prefix.ends_with(".lst")) return {prefix};
  const fs::path path = fs::absolute(prefix);
  std::vector<std::string> lists;
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(path.filename().string()) && name.ends_with(".lst"))
      lists.push_back(entry.path().string());
  }
  std::sort(lists.begin(), lists.end());
  return lists;
}

// An interrupted program leaves no unfinished file. Before the first thread, so that all of them block the signals.
void endOnSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int number = 0;
    while (sigwait(&signals, &number) != 0) {
    }
    removeUnfinished();
    fprintf(stderr, "\nim2rec: interrupted; no unfinished file is left\n");
    _exit(128 + number);
  }).detach();
}

int packAll(const Given& given) {
  const auto lists = listsOf(given.prefix);
  if (lists.empty()) {
    fprintf(stderr, "im2rec: there is no list %s*.lst; make it with --list\n", given.prefix.c_str());
    return 2;
  }
  for (const std::string& list : lists) {
    const std::string stem = list.substr(0, list.size() - 4);
    if (given.resume && std::filesystem::exists(stem + ".rec") && std::filesystem::exists(stem + ".idx")) {
      printf("%s.rec: there already\n", stem.c_str());
      continue;
    }
    const auto packed = pack(given, list);
    if (!packed.has_value()) {
      fprintf(stderr, "im2rec: %s\n", packed.error().message.c_str());
      return 2;
    }
  }
  return 0;
}

void declare(CLI::App& app, Given& given) {
  app.add_option("prefix", given.prefix, "prefix of the lists and record files, or one list")->required();
  app.add_option("root", given.root, "folder of the images")->required();
  app.add_flag("--list", given.makes_list, "write lists instead of record files");
  app.add_option("--exts", given.list.search.extensions,
                 "endings of the images' names [.jpeg .jpg .png .webp]");
  app.add_option("--chunks", given.list.chunks, "lists that the images are divided into [1]")
      ->check(CLI::Range(1, 100000));
  app.add_option("--train-ratio", given.list.train_ratio, "share of the images for training [1]")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--test-ratio", given.list.test_ratio, "share of the images for testing [0]")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--recursive", given.list.search.recursive, "also the folders below; each is a class");
  app.add_flag("--no-shuffle", given.no_shuffle, "lists in the order of names");
  app.add_flag("--pass-through", given.pass_through, "store the files as they are");
  app.add_option("--resize", given.resize, "length of the shorter side; 0: as it is [0]")
      ->check(CLI::Range(0, 65535));
  app.add_flag("--center-crop", given.center_crop, "cut out the square in the centre");
  app.add_option("--quality", given.quality, "quality of JPEG [95]")->check(CLI::Range(1, 100));
  app.add_option("--num-thread", given.threads, "threads that prepare images [1]")
      ->check(CLI::Range(1, 1024));
  app.add_option("--color", given.color, "1 color, 0 grey [1]")->check(CLI::Range(0, 1));
  app.add_option("--encoding", given.encoding, "format of the stored images [.jpg]")
      ->check(CLI::IsMember({".jpg", ".png"}));
  app.add_flag("--pack-label", given.pack_label, "store all labels of the list");
  app.add_flag("--resume", given.resume, "leave record files that are there");
}

}  // namespace

int main(int argc, char** argv) {
  endOnSignal();
  Given given;
  CLI::App app("Packs images into record files.");
  declare(app, given);
  try {
    app.parse(argc, argv);
    given.list.shuffle = !given.no_shuffle;
    if (!given.makes_list) return packAll(given);
    const auto images = findImages(given.root, given.list.search);
    if (!images.has_value()) {
      fprintf(stderr, "im2rec: %s\n", images.error().message.c_str());
      return 2;
    }
    if (images->empty()) {
      fprintf(stderr, "im2rec: %s has no images; with --recursive, folders below are searched\n",
              given.root.c_str());
      return 2;
    }
    const Status written = im2rec::writeLists(given.prefix, *images, given.list);
    if (!written.has_value()) fprintf(stderr, "im2rec: %s\n", written.error().message.c_str());
    return written.has_value() ? 0 : 2;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::filesystem::filesystem_error& error) {
    fprintf(stderr, "im2rec: %s\n", error.what());
    return 2;
  }
}
