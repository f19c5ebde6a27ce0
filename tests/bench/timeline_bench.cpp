// The cost of the viewer on a trace of many events, each figure beside its target and, for a frame, beside
// the cost of drawing every event. CPU time of the thread, over many frames.
//
//   timeline_bench [--events N] [--large N] [--frames N] [--folder FOLDER]
//
// --large draws a second trace, of so many events, for the ratio to the first. Needs no display.
#include <fmt/format.h>

#include <QApplication>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "tests/bench/timeline_frames.h"
#include "tests/bench/timeline_queries.h"
#include "tests/bench/timeline_trace.h"
#include "tests/bench/timeline_window.h"

namespace pitwall::bench {
namespace {

struct Options {
  std::int64_t events = 10'000'000;
  std::int64_t large = 0;
  int frames = 200;
  std::string folder = std::filesystem::temp_directory_path().string();
};

void manyTracks(const std::string& path, int frames) {
  constexpr int kTracks = 100'000;
  makeManyTracks(path, kTracks);
  fmt::print("{} tracks of two events\n", kTracks);
  const double begin = processSeconds();
  const auto timeline = loadPlain(path);
  line("opening them", fmt::format("{:.0f} ms", (processSeconds() - begin) * 1e3), "");
  measureManyTracks(timeline, frames);
  std::filesystem::remove(path);
}

int run(const Options& options) {
  const std::string path = options.folder + "/timeline_bench.pitwall";
  measureWindow();
  makeTimelineTrace(path, options.events);
  const auto timeline = measureOpening(path);
  const double full = measureFrames(timeline, options.frames);
  measureQueries(timeline, path);
  std::filesystem::remove(path);
  manyTracks(path, options.frames);
  if (options.large > 0) {
    makeTimelineTrace(path, options.large);
    measureLarge(loadPlain(path), options.frames, full);
    std::filesystem::remove(path);
  }
  return 0;
}

}  // namespace
}  // namespace pitwall::bench

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  pitwall::bench::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--events") options.events = std::atoll(argv[i + 1]);
    if (name == "--large") options.large = std::atoll(argv[i + 1]);
    if (name == "--frames") options.frames = std::atoi(argv[i + 1]);
    if (name == "--folder") options.folder = argv[i + 1];
  }
  return pitwall::bench::run(options);
}
