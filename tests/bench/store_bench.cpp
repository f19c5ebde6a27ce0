// The cost of the trace file: writing, size and queries, each figure beside its target and, where there is
// one, the lower bound measured in the same run.
//
//   store_bench [--events N] [--folder FOLDER] [--repeat N]
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/reader.h"
#include "db/store.h"
#include "tests/bench/made_events.h"

namespace pitwall::bench {
namespace {

struct Options {
  std::int64_t events = 10'000'000;
  int repeat = 5;
  std::string folder = std::filesystem::temp_directory_path().string();
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// CPU time of this process, all its threads, user and system.
double cpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// The minimum CPU time of some runs, the one least affected by other load.
template <class Work>
double least(int repeat, Work work) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < repeat; ++i) {
    const double begin = threadSeconds();
    work();
    best = std::min(best, threadSeconds() - begin);
  }
  return best;
}

template <class T>
T must(Result<T> result) {
  if (result.has_value()) return std::move(result).value();
  std::fprintf(stderr, "store_bench: %s\n", result.error().message.c_str());
  std::exit(1);
}

void must(const Status& status) {
  if (status.has_value()) return;
  std::fprintf(stderr, "store_bench: %s\n", status.error().message.c_str());
  std::exit(1);
}

void line(std::string_view what, const std::string& figure, std::string_view target) {
  fmt::print("  {:<58} {:>16}   {}\n", what, figure, target);
}
void milliseconds(std::string_view what, double time, std::string_view target) {
  line(what, fmt::format("{:.2f} ms", time * 1e3), target);
}

struct Written {
  double cpu = 0;  // without generating the events
  double bytes = 0;
};

// Writes `events` on `tracks`, in portions in turn, as a drain thread does.
Written write(const std::string& path, const std::vector<MadeTrack>& tracks, std::int64_t events) {
  const double begin = cpuSeconds();
  double making = 0;
  std::unique_ptr<TraceSink> sink = must(createTrace(path, {.most_pending_rows = kPendingRowsOfAnImport}));
  const ProcessId process = sink->process({.pid = 1, .name = "program", .command_line = "program"});
  std::vector<TrackId> ids;
  std::vector<MadeEvents> made;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    TrackInfo track;
    track.kind = tracks[i] == MadeTrack::kernels ? TrackKind::stream : TrackKind::thread;
    track.process = process;
    track.name = fmt::format("track {}", i);
    ids.push_back(sink->track(track));
    made.emplace_back(tracks[i], i + 1, *sink);
  }
  constexpr std::size_t kPortion = 4096;
  std::vector<Event> portion;
  const std::int64_t of_track = events / static_cast<std::int64_t>(tracks.size());
  for (std::int64_t done = 0; done < of_track;) {
    const std::int64_t count = std::min<std::int64_t>(kPortion, of_track - done);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const double before = threadSeconds();
      made[i].next(static_cast<std::size_t>(count), portion);
      making += threadSeconds() - before;
      sink->events(ids[i], portion);
    }
    done += count;
  }
  must(sink->finish());
  return {cpuSeconds() - begin - making, static_cast<double>(std::filesystem::file_size(path))};
}

// Copies as many bytes as the events have, and writes as many as the file has: the lower bound of any store.
void floorOfWriting(const std::string& path, std::int64_t events, double bytes) {
  const std::size_t portion = 4096 * sizeof(Event);
  std::vector<char> from(portion, 'x'), to(portion);
  const double copy = least(3, [&] {
    for (std::int64_t i = 0; i < events; i += 4096) std::memcpy(to.data(), from.data(), portion);
  });
  const double file = least(3, [&] {
    std::FILE* out = std::fopen(path.c_str(), "wb");
    for (double done = 0; out != nullptr && done < bytes; done += static_cast<double>(portion))
      (void)std::fwrite(from.data(), 1, portion, out);
    if (out != nullptr) std::fclose(out);
  });
  std::filesystem::remove(path);
  const auto rate = [events](double time) {
    return fmt::format("{:.1f} M events/s", static_cast<double>(events) / time / 1e6);
  };
  line("floor: copying the events once", rate(copy), "");
  line("floor: writing the file's bytes once", rate(file), "");
}

void writing(const std::string& path, const Options& options) {
  struct Case {
    const char* what;
    std::vector<MadeTrack> tracks;
    const char* target;
  };
  const std::vector<Case> cases = {
      {"scopes of CPU threads", {MadeTrack::scopes, MadeTrack::scopes}, "to reach: 8"},
      {"calls and kernels, correlation and arguments",
       {MadeTrack::calls, MadeTrack::kernels},
       "to reach: 12"}};
  for (const Case& c : cases) {
    Written best{.cpu = std::numeric_limits<double>::max(), .bytes = 0};
    for (int i = 0; i < std::min(3, options.repeat); ++i) {
      const Written written = write(path, c.tracks, options.events / 4);
      if (written.cpu < best.cpu) best = written;
    }
    const double events = static_cast<double>(options.events / 4);
    fmt::print("writing {}\n", c.what);
    line("into the checkpointed file, all threads together",
         fmt::format("{:.1f} M events/s", events / best.cpu / 1e6), "to reach: 13 per core");
    line("bytes an event on disk", fmt::format("{:.2f}", best.bytes / events), c.target);
    floorOfWriting(path, options.events / 4, best.bytes);
  }
  must(must(createTrace(path))->finish());
  line("an empty trace", fmt::format("{} KiB", std::filesystem::file_size(path) / 1024), "below 1400");
}

void sql(Trace& trace, const Options& options, std::string_view what, const std::string& text,
         std::string_view target) {
  milliseconds(what, least(options.repeat, [&] { must(trace.query(text)); }), target);
}

void reading(const std::string& path, const Options& options) {
  std::unique_ptr<Trace> trace;
  milliseconds("opening", least(options.repeat, [&] { trace = must(Trace::open(path)); }), "");
  std::vector<char> buffer(1 << 20);
  milliseconds("floor: reading the file once",
               least(options.repeat,
                     [&] {
                       std::FILE* file = std::fopen(path.c_str(), "rb");
                       while (file != nullptr && std::fread(buffer.data(), 1, buffer.size(), file) > 0) {
                       }
                       if (file != nullptr) std::fclose(file);
                     }),
               "");
  const double end = static_cast<double>(std::get<std::int64_t>(
      must(trace->query("SELECT max(last_end_ns) FROM event_chunk WHERE track_id = 7")).rows[0][0]));
  const auto at = [end](double share) { return fmt::format("{:.0f}", end * share); };
  fmt::print("answers\n");
  sql(*trace, options, "count, sum, min, max by name, all events", "SELECT * FROM event_stats",
      "to reach: 50");
  sql(*trace, options, "the same within a tenth of the time",
      "SELECT * FROM event_stats(NULL, " + at(0.2) + ", " + at(0.3) + ")", "");
  sql(*trace, options, "overlap of two tracks of an eighth of the events",
      "SELECT * FROM event_overlap(7, 8)", "to reach: 60");
  sql(*trace, options, "busy time of one of them", "SELECT * FROM event_busy(7)", "to reach: 15");
  sql(*trace, options, "1 % of a track through SQL, rows summed by SQLite",
      "SELECT count(*), sum(dur_ns) FROM event WHERE track = 7 AND start_ns BETWEEN " + at(0.1) + " AND " +
          at(0.11),
      "to reach: 2");
  sql(*trace, options, "one pass through SQL: a track, durations above 1 ms",
      "SELECT count(*) FROM event WHERE track = 7 AND dur_ns > 1000000", "");
  const auto lod = [&](std::string_view what, double from, double to, std::string_view target) {
    sql(*trace, options, what,
        fmt::format("SELECT count(*) FROM event_lod(7, {}, {}, 2000)", at(from), at(to)), target);
  };
  std::unique_ptr<Trace> fresh;
  milliseconds("2000 pixels of that track, opening included",
               least(options.repeat,
                     [&] {
                       fresh = must(Trace::open(path));
                       must(fresh->query("SELECT count(*) FROM event_lod(7, NULL, NULL, 2000)"));
                     }),
               "");
  lod("2000 pixels of that track, all of it", 0, 1, "to reach: 2");
  lod("2000 pixels of a tenth of it", 0.1, 0.2, "to reach: 2");
  lod("2000 pixels of a hundredth of it", 0.1, 0.11, "to reach: 2");
  const auto columns = [&](const EventSelection& selection) {
    return least(options.repeat, [&] {
      TimeNs sum = 0;
      must(trace->eventColumns(selection, [&](const EventSpans& spans) {
        for (const TimeNs dur : spans.dur_ns) sum += dur;
        return true;
      }));
    });
  };
  EventSelection selection;
  selection.track = TrackId{7};
  selection.fields = kStart | kDur;
  milliseconds("start and duration of that track, as columns", columns(selection), "");
  selection.from_ns = static_cast<TimeNs>(end * 0.1);
  selection.to_ns = static_cast<TimeNs>(end * 0.11);
  milliseconds("1 % of that track, as columns", columns(selection), "to reach: 2");
  milliseconds("a track as structs", least(options.repeat, [&] { must(trace->events(TrackId{7})); }), "");
}

int run(const Options& options) {
  const std::string path = options.folder + "/store_bench.pitwall";
  writing(path, options);
  const std::vector<MadeTrack> tracks = {MadeTrack::scopes,  MadeTrack::scopes, MadeTrack::scopes,
                                         MadeTrack::scopes,  MadeTrack::calls,  MadeTrack::calls,
                                         MadeTrack::kernels, MadeTrack::kernels};
  fmt::print("a trace of {} events on {} tracks\n", options.events, tracks.size());
  const Written written = write(path, tracks, options.events);
  line("written, all threads together",
       fmt::format("{:.1f} M events/s", static_cast<double>(options.events) / written.cpu / 1e6),
       "to reach: 13 per core");
  line("bytes an event on disk", fmt::format("{:.2f}", written.bytes / static_cast<double>(options.events)),
       "to reach: 8 to 12");
  reading(path, options);
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace pitwall::bench

int main(int argc, char** argv) {
  pitwall::bench::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--events") {
      options.events = std::atoll(argv[i + 1]);
    } else if (name == "--repeat") {
      options.repeat = std::atoi(argv[i + 1]);
    } else if (name == "--folder") {
      options.folder = argv[i + 1];
    }
  }
  return pitwall::bench::run(options);
}
