// The cost of input from record files: decoding and augmenting beside a loop over libjpeg-turbo alone, reading beside a
// plain sequential read, and memory over epochs.
//
//   input_bench [--images N] [--rounds N] [--epochs N] [--folder FOLDER] [--peer PYTHON SCRIPT]
//
// Images are of 500 x 375 pixels at quality 95; the result has 224 x 224. Each round measures every row once, in turn;
// a row shows the median. With --peer, PYTHON runs SCRIPT (tests/peers/image_records.py), which has MXNet do the same.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "db/proc_files.h"
#include "runtime/image.h"
#include "runtime/image_records.h"
#include "tests/bench/must.h"
#include "tests/bench/plain_jpeg.h"
#include "tests/support/made_photograph.h"

namespace pitwall::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int images = 400, rounds = 5, epochs = 10;
  std::string folder = std::filesystem::temp_directory_path().string();
  std::string python, script;
};

using File = std::vector<std::uint8_t>;

struct Files {
  std::string record;
  std::vector<File> images;
  Bytes bytes = 0;
};

Files makeFiles(const Options& options) {
  Files files;
  files.record = options.folder + "/input_bench.rec";
  const auto writer = must(data::RecordWriter::create(files.record, options.folder + "/input_bench.idx"));
  for (int i = 0; i < options.images; ++i) {
    const data::Image image = test::madePhotograph(500, 375, static_cast<std::uint32_t>(i % 64));
    files.images.push_back(must(data::encodeJpeg(image, 95)));
    File record;
    data::appendImageHeader({{static_cast<float>(i % 10)}, static_cast<std::uint64_t>(i), 0}, record);
    record.insert(record.end(), files.images.back().begin(), files.images.back().end());
    must(writer->write(static_cast<std::uint64_t>(i), record));
  }
  files.bytes = writer->position();
  must(writer->finish());
  return files;
}

double secondsOf(const std::function<void()>& work) {
  const auto began = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

struct Case {
  std::string name;
  std::function<double()> run;  // images or bytes per second
  std::vector<double> figures = {};

  double median() const {
    std::vector<double> sorted = figures;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

data::ImageRecordOptions recordOptions(const Files& files, int threads, int resize) {
  data::ImageRecordOptions options;
  options.path_imgrec = files.record;
  options.batch_size = 32;
  options.preprocess_threads = threads;
  options.mean_r = options.mean_g = options.mean_b = 120;
  options.augment = {.resize = resize, .rand_crop = true, .rand_mirror = true};
  return options;
}

double imagesPerSecond(Session& session, const Files& files, int threads, int resize) {
  const auto batches = must(data::openImageRecords(session, recordOptions(files, threads, resize)));
  std::int64_t images = 0;
  const double seconds = secondsOf([&] {
    data::Batch batch;
    while (must(batches->next(batch))) images += batch.items;
  });
  return static_cast<double>(images) / seconds;
}

double plainReading(const Files& files) {
  std::vector<char> buffer(data::RecordReader::kBufferBytes);
  const int file = ::open(files.record.c_str(), O_RDONLY | O_CLOEXEC);
  const double seconds = secondsOf([&] {
    while (::read(file, buffer.data(), buffer.size()) > 0) {
    }
  });
  ::close(file);
  return static_cast<double>(files.bytes) / seconds;
}

double recordReading(const Files& files) {
  const auto reader = must(data::RecordReader::open(files.record));
  const double seconds = secondsOf([&] {
    data::Record record;
    while (must(reader->next(record))) {
    }
  });
  return static_cast<double>(files.bytes) / seconds;
}

double residentMib() {
  const auto status = host::readFile("/proc/self/status");
  return static_cast<double>(host::fieldOf(status.value_or(""), "VmRSS").value_or(0)) / 1024;
}

double ofPeer(const Options& options, const Files& files, int threads) {
  const std::string command =
      fmt::format("'{}' '{}' '{}' {}", options.python, options.script, files.record, threads);
  std::FILE* output = ::popen(command.c_str(), "r");
  double rate = 0;
  const bool read = output != nullptr && std::fscanf(output, "%lf", &rate) == 1;
  if (output != nullptr) ::pclose(output);
  if (!read) std::fprintf(stderr, "input_bench: no figure from %s\n", command.c_str());
  return rate;
}

void show(const std::string& what, double figure, const std::string& unit) {
  std::printf("%-64s %10.1f %s\n", what.c_str(), figure, unit.c_str());
}

void showMemory(Session& session, const Files& files, int epochs) {
  const auto batches = must(data::openImageRecords(session, recordOptions(files, 2, 256)));
  data::Batch batch;
  for (int e = 0; e < epochs; ++e, batches->reset()) {
    while (must(batches->next(batch))) {
    }
    if (e == 0 || e == epochs - 1) show(fmt::format("memory after epoch {}", e + 1), residentMib(), "MiB");
  }
}

void run(const Options& options) {
  const Files files = makeFiles(options);
  SessionOptions session_options;
  session_options.backend = "null";
  const auto session = must(Session::open(session_options));
  std::vector<Case> cases;
  cases.push_back({"libjpeg-turbo alone, whole images, 1 thread", [&] {
                     return static_cast<double>(files.images.size()) / secondsOf([&] {
                              for (const File& file : files.images)
                                if (!decodePlainly(file)) std::abort();
                            });
                   }});
  cases.push_back(
      {"decoded, crop of 224 and mirror, 1 thread", [&] { return imagesPerSecond(*session, files, 1, -1); }});
  cases.push_back({"decoded, resize 256, crop of 224 and mirror, 1 thread",
                   [&] { return imagesPerSecond(*session, files, 1, 256); }});
  cases.push_back({"decoded, resize 256, crop of 224 and mirror, 2 threads",
                   [&] { return imagesPerSecond(*session, files, 2, 256); }});
  cases.push_back({"plain sequential read", [&] { return plainReading(files); }});
  cases.push_back({"records read", [&] { return recordReading(files); }});
  if (!options.python.empty())
    for (const int threads : {1, 2})
      cases.push_back({fmt::format("MXNet: resize 256, crop of 224 and mirror, {} {}", threads,
                                   threads == 1 ? "thread" : "threads"),
                       [&, threads] { return ofPeer(options, files, threads); }});
  for (int round = 0; round < options.rounds; ++round)
    for (Case& each : cases) each.figures.push_back(each.run());
  std::printf("%d images of %.0f KB, %d rounds, medians\n", options.images,
              static_cast<double>(files.bytes) / 1000 / options.images, options.rounds);
  for (const Case& each : cases) {
    const bool bytes = each.median() > 1e6;
    show(each.name, bytes ? each.median() / 1e6 : each.median(), bytes ? "MB/s" : "images/s");
  }
  const auto ratio = [&](std::size_t a, std::size_t b) { return cases[a].median() / cases[b].median(); };
  std::printf(
      "crop against libjpeg-turbo alone %.2f, with resize %.2f; records against a plain read %.2f; 2 threads "
      "against 1 %.2f\n",
      ratio(1, 0), ratio(2, 0), ratio(5, 4), ratio(3, 2));
  if (cases.size() > 6)
    std::printf("against MXNet %.2f with 1 thread, %.2f with 2\n", ratio(2, 6), ratio(3, 7));
  showMemory(*session, files, options.epochs);
  std::filesystem::remove(files.record);
  std::filesystem::remove(options.folder + "/input_bench.idx");
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      if (++i == argc) std::fprintf(stderr, "input_bench: %s needs a value\n", name.c_str()), std::exit(2);
      return std::string(argv[i]);
    };
    if (name == "--images")
      options.images = std::max(1, std::atoi(value().c_str()));
    else if (name == "--rounds")
      options.rounds = std::max(1, std::atoi(value().c_str()));
    else if (name == "--epochs")
      options.epochs = std::max(1, std::atoi(value().c_str()));
    else if (name == "--folder")
      options.folder = value();
    else if (name == "--peer")
      options.python = value(), options.script = value();
    else
      std::fprintf(stderr, "input_bench: unknown option %s\n", name.c_str()), std::exit(2);
  }
  return options;
}

}  // namespace
}  // namespace pitwall::bench

int main(int argc, char** argv) { pitwall::bench::run(pitwall::bench::parse(argc, argv)); }
