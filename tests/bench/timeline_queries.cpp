#include "tests/bench/timeline_queries.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <numeric>

#include "gui/models/event_order.h"
#include "gui/models/flame_tree.h"
#include "gui/models/range_groups.h"
#include "gui/timeline/aggregate.h"
#include "gui/timeline/search.h"
#include "gui/timeline/timeline_cache.h"
#include "tests/bench/timeline_trace.h"

namespace pitwall::bench {
namespace {

double residentBytes() {
  malloc_trim(0);
  long pages = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void measureReopening(const std::string& path, const gui::Timeline& timeline) {
  const std::string folder = path + ".cache";
  const auto opened = [&] {
    auto trace = Trace::open(path);
    auto again =
        gui::loadTimeline(*trace.value(), {.progress = {}, .cancel = nullptr, .cache_folder = folder});
    return again.value()->from_cache;
  };
  auto trace = Trace::open(path);
  const auto identity = gui::traceIdentity(*trace.value());
  double begin = processSeconds();
  if (!gui::writeTimelineCache(folder, identity.value_or(""), timeline).has_value()) return;
  const double writing = processSeconds() - begin;
  double best = 1e9;
  bool used = true;
  for (int i = 0; i < 5; ++i) {
    begin = processSeconds();
    used = opened() && used;
    best = std::min(best, processSeconds() - begin);
  }
  line("opening again, through the cache", used ? fmt::format("{:.0f} ms", best * 1e3) : "not used",
       "to reach: 150");
  line("writing the cache, after the trace is shown", fmt::format("{:.0f} ms", writing * 1e3), "");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

// Work outside of the user interface thread, which may take longer.
void measureGroupings(const gui::Timeline& timeline, const std::vector<std::size_t>& tracks,
                      const std::string& path) {
  Times by_track, merged, threads, layers, categories;
  const std::atomic<bool> go_on = false;
  const TimeNs from = timeline.begin_ns, to = timeline.end_ns + 1;
  const auto trace = Trace::open(path);
  for (int i = 0; i < 3; ++i) {
    by_track.measure([&] { gui::flameTree(timeline, tracks, from, to, gui::FlameGrouping::byTrack); });
    merged.measure([&] { gui::flameTree(timeline, tracks, from, to, gui::FlameGrouping::merged); });
    threads.measure([&] { gui::groupTracks(timeline, tracks, TrackKind::thread, from, to, go_on); });
    if (!trace.has_value()) continue;
    const auto group = [&](gui::RangeGrouping by) {
      gui::groupEvents(*trace.value(), timeline, tracks, by, from, to, go_on);
    };
    layers.measure([&] { group(gui::RangeGrouping::layer); });
    categories.measure([&] { group(gui::RangeGrouping::category); });
  }
  line("flame graph, each row apart", by_track.text(), "");
  line("flame graph, all rows merged", merged.text(), "");
  line("range aggregation by thread", threads.text(), "");
  line("range aggregation by layer, read from the trace", layers.text(), "");
  line("range aggregation by category, read from the trace", categories.text(), "");
}

}  // namespace

std::shared_ptr<const gui::Timeline> measureOpening(const std::string& path) {
  const double before = residentBytes();
  std::shared_ptr<const gui::Timeline> timeline;
  double first = 1e9;
  double held = 0;
  for (int i = 0; i < 3; ++i) {
    timeline.reset();
    const double begin = processSeconds();
    timeline = loadPlain(path);
    first = std::min(first, processSeconds() - begin);
    if (i == 0) held = residentBytes() - before;
  }
  line("opening to exact and interactive", fmt::format("{:.0f} ms", first * 1e3), "to reach: 1500");
  line("resident memory an event", fmt::format("{:.1f} bytes", held / static_cast<double>(timeline->events)),
       "to reach: 20");
  measureReopening(path, *timeline);
  return timeline;
}

void measureQueries(const std::shared_ptr<const gui::Timeline>& timeline, const std::string& path) {
  fmt::print("questions over {} events\n", timeline->events);
  std::vector<std::size_t> tracks(timeline->tracks.size());
  std::iota(tracks.begin(), tracks.end(), std::size_t{0});
  const TimeNs span = timeline->end_ns - timeline->begin_ns;
  Times all, most, half, search, rare, none, count;
  for (int i = 0; i < 7; ++i) {
    all.measure([&] { gui::aggregate(*timeline, tracks, timeline->begin_ns, timeline->end_ns + 1); });
    most.measure([&] {
      gui::aggregate(*timeline, tracks, timeline->begin_ns + span / 50, timeline->end_ns - span / 50);
    });
    half.measure([&] {
      gui::aggregate(*timeline, tracks, timeline->begin_ns + span / 4, timeline->end_ns - span / 4);
    });
    const auto first = [&](const char* text) {
      return gui::findEvent(*timeline, gui::matchingNames(*timeline, text), std::nullopt, true);
    };
    search.measure([&] { first("convolution"); });
    rare.measure([&] { first("layer1999_"); });
    none.measure([&] { first("no such name"); });
    count.measure([&] { gui::countEvents(*timeline, gui::matchingNames(*timeline, "convolution")); });
  }
  line("range aggregation by name, all events", all.text(), "to reach: 30");
  line("range aggregation by name, a range of 96 %", most.text(), "to reach: 30");
  line("range aggregation by name, a range of 50 %", half.text(), "to reach: 30");
  line("search: first event of a common name", search.text(), "to reach: 5");
  line("search: first event of a rare name", rare.text(), "to reach: 5");
  line("search: no such name", none.text(), "to reach: 5");
  line("search: how many there are", count.text(), "");
  const gui::EventNumbers numbers(timeline);
  Times by_start, by_dur, by_name;
  for (int i = 0; i < 3; ++i) {
    const auto sort = [&](gui::EventKey key) {
      gui::EventQuestion question;
      question.key = key;
      gui::orderOf(numbers, question);
    };
    by_start.measure([&] { sort(gui::EventKey::start); });
    by_dur.measure([&] { sort(gui::EventKey::dur); });
    by_name.measure([&] { sort(gui::EventKey::name); });
  }
  line("event table sorted by start", by_start.text(), "to reach: 350");
  line("event table sorted by duration", by_dur.text(), "to reach: 350");
  line("event table sorted by name", by_name.text(), "to reach: 350");
  measureGroupings(*timeline, tracks, path);
}

}  // namespace pitwall::bench
