// The cost of importing other tools' traces, in CPU time per stage and compared with another parser on the
// same file.
//
//   import_bench [--kineto MB] [--mxnet MB] [--onednn MB] [--nsight ROWS] [--folder FOLDER] [--repeat N]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/import.h"
#include "tests/bench/import_stages.h"
#include "tests/bench/make_trace.h"
#include "tests/bench/peer_rapidjson.h"

namespace pitwall::bench {
namespace {

struct Options {
  std::int64_t kineto_mb = 60;
  std::int64_t mxnet_mb = 40;
  std::int64_t onednn_mb = 40;
  std::int64_t nsight_rows = 200'000;
  int repeat = 5;
  std::string folder = std::filesystem::temp_directory_path().string();
};

// CPU time of this process, all its threads, user and system.
double cpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// The minimum CPU time of some runs, the one least affected by other load.
template <class Work>
double leastSeconds(int repeat, Work work) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < repeat; ++i) {
    const double begin = cpuSeconds();
    work();
    least = std::min(least, cpuSeconds() - begin);
  }
  return least;
}

[[noreturn]] void giveUp(const std::string& why) {
  std::fprintf(stderr, "import_bench: %s\n", why.c_str());
  std::exit(1);
}

void rate(const char* what, double megabytes, double seconds, const char* target) {
  fmt::print("  {:<46} {:>8.0f} MB/s   {}\n", what, megabytes / seconds, target);
}

void intoStore(const std::string& path, const Options& options, double megabytes, const char* target) {
  const std::string output = path + ".pitwall";
  const std::vector<std::string> inputs = {path};
  std::int64_t events = 0;
  const double seconds = leastSeconds(options.repeat, [&] {
    const auto summary = importToFile(inputs, output);
    if (!summary.has_value()) giveUp(summary.error().message);
    events = summary->totalEvents();
  });
  rate("into the store, all threads together", megabytes, seconds, target);
  fmt::print("  {:<46} {:>8.0f} ns an event, {:.1f} bytes an event on disk\n", "",
             seconds * 1e9 / static_cast<double>(events),
             static_cast<double>(std::filesystem::file_size(output)) / static_cast<double>(events));
  std::filesystem::remove(output);
}

double readAlone(const std::string& path, const Options& options) {
  std::vector<char> buffer(std::size_t{1} << 18);
  return leastSeconds(options.repeat, [&] {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    while (file != nullptr && std::fread(buffer.data(), 1, buffer.size(), file) > 0) {
    }
    if (file != nullptr) std::fclose(file);
  });
}

double sinkOnly(const std::string& path, const Options& options) {
  const std::vector<std::string> inputs = {path};
  return leastSeconds(options.repeat, [&] {
    NoSink sink;
    const auto summary = importTrace(inputs, sink);
    if (!summary.has_value()) giveUp(summary.error().message);
  });
}

// A JSON input, stage by stage.
void json(const char* title, const std::string& path, const Options& options, const char* parse_target,
          const char* store_target) {
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print("{}, {:.0f} MB\n", title, megabytes);
  rate("reading the file alone", megabytes, readAlone(path, options), "");
  std::int64_t events = 0;
  const double parse = leastSeconds(options.repeat, [&] { events = parseAlone(path); });
  rate("parse alone: events, fields, numbers", megabytes, parse, parse_target);
  fmt::print("  {:<46} {:>8.0f} ns an event, {:.0f} bytes\n", "", parse * 1e9 / static_cast<double>(events),
             megabytes * 1e6 / static_cast<double>(events));
  rate("into a sink that drops everything", megabytes, sinkOnly(path, options), "");
  intoStore(path, options, megabytes, store_target);
  if (!hasRapidJson()) {
    fmt::print("  RapidJSON is not installed: no peer\n");
    return;
  }
  const double peer = leastSeconds(options.repeat, [&] {
    if (rapidJsonValues(path) <= 0) giveUp("RapidJSON refuses the file");
  });
  rate("RapidJSON SAX, the file in pieces", megabytes, peer, "");
  fmt::print("  {:<46} {:>8.2f} x          at least 2.3\n", "parse alone / RapidJSON SAX", peer / parse);
}

void oneDnn(const Options& options) {
  const std::string path = options.folder + "/import_bench.log";
  if (const std::string wrong = makeOneDnn(path, options.onednn_mb * 1'000'000); !wrong.empty())
    giveUp(wrong);
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print("oneDNN verbose log, {:.0f} MB\n", megabytes);
  rate("reading the file alone", megabytes, readAlone(path, options), "");
  rate("into a sink that drops everything", megabytes, sinkOnly(path, options), "500");
  intoStore(path, options, megabytes, "");
  std::filesystem::remove(path);
}

void nsight(const Options& options) {
  const std::string path = options.folder + "/import_bench.sqlite";
  if (const std::string wrong = makeNsight(path, options.nsight_rows); !wrong.empty()) giveUp(wrong);
  fmt::print("Nsight Systems database, 2 x {} rows\n", options.nsight_rows);
  const double rows = static_cast<double>(options.nsight_rows) * 2;
  const auto step = [&](Fetch fetch) {
    return leastSeconds(options.repeat, [&] {
      if (stepThroughNsight(path, fetch) != options.nsight_rows * 2) giveUp("rows are missing");
    });
  };
  const double stepping = step(Fetch::no);
  fmt::print("  {:<46} {:>8.0f} ns a row\n", "sqlite3_step through the rows, without mutex",
             stepping * 1e9 / rows);
  fmt::print("  {:<46} {:>8.0f} ns a row\n", "the same, and the values fetched",
             step(Fetch::yes) * 1e9 / rows);
  const double sink = sinkOnly(path, options);
  fmt::print("  {:<46} {:>8.0f} ns a row\n", "into a sink that drops everything", sink * 1e9 / rows);
  const std::vector<std::string> inputs = {path};
  const double store = leastSeconds(options.repeat, [&] {
    const auto summary = importToFile(inputs, path + ".pitwall");
    if (!summary.has_value()) giveUp(summary.error().message);
  });
  fmt::print("  {:<46} {:>8.0f} ns a row\n", "into the store, all threads together", store * 1e9 / rows);
  fmt::print("  {:<46} {:>8.2f} x          at most 1.3\n", "into the store / sqlite3_step alone",
             store / stepping);
  std::filesystem::remove(path + ".pitwall");
  std::filesystem::remove(path);
}

int usage() {
  std::fprintf(
      stderr,
      "usage: import_bench [--kineto MB] [--mxnet MB] [--onednn MB] [--nsight ROWS] [--folder FOLDER] "
      "[--repeat N]\n       sizes of 0 leave a part out\n");
  return 2;
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::int64_t value = std::atoll(argv[i + 1]);
    if (name == "--kineto")
      options.kineto_mb = value;
    else if (name == "--mxnet")
      options.mxnet_mb = value;
    else if (name == "--onednn")
      options.onednn_mb = value;
    else if (name == "--nsight")
      options.nsight_rows = value;
    else if (name == "--repeat")
      options.repeat = static_cast<int>(std::max<std::int64_t>(1, value));
    else if (name == "--folder")
      options.folder = argv[i + 1];
    else
      return usage();
  }
  if (argc % 2 == 0) return usage();
  fmt::print("CPU time of all threads, least of {} runs; targets in the last column\n", options.repeat);
  const std::string path = options.folder + "/import_bench.json";
  if (options.kineto_mb > 0) {
    if (const std::string wrong = makeKineto(path, options.kineto_mb * 1'000'000); !wrong.empty())
      giveUp(wrong);
    json("Kineto-like JSON", path, options, "1000", "600");
  }
  if (options.mxnet_mb > 0) {
    if (const std::string wrong = makeMxNet(path, options.mxnet_mb * 1'000'000); !wrong.empty())
      giveUp(wrong);
    json("MXNet profiler JSON", path, options, "", "500");
  }
  std::filesystem::remove(path);
  if (options.onednn_mb > 0) oneDnn(options);
  if (options.nsight_rows > 0) nsight(options);
  return 0;
}

}  // namespace
}  // namespace pitwall::bench

int main(int argc, char** argv) { return pitwall::bench::run(argc, argv); }
