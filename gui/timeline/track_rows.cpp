#include "gui/timeline/track_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "db/track_titles.h"

namespace pitwall::gui {
namespace {

void describeTrack(const Trace& trace, const TrackInfo& info, const std::vector<std::string>& threads,
                   TimelineTrack& track) {
  track.kind = info.kind;
  track.unit = info.unit;
  track.title = info.name;
  if (info.thread) {
    track.thread = info.thread.value;
    track.thread_name = trace.threads()[info.thread.value - 1].name;
    if (info.kind == TrackKind::thread && track.title.empty()) track.title = threads[info.thread.value - 1];
  }
  if (info.device) {
    track.device = deviceTitle(trace.devices()[info.device.value - 1]);
    if (track.title.find(track.device) == std::string::npos) track.title = track.device + " " + track.title;
  }
  if (info.kind == TrackKind::counter && !info.unit.empty()) track.title += fmt::format(" ({})", info.unit);
  if (info.kind == TrackKind::counter && info.thread && !info.device) {
    track.label = track.title;
    track.title = threads[info.thread.value - 1] + ": " + track.title;
  }
  if (track.title.empty()) track.title = fmt::format("track {}", track.id.value);
}

// Threads are numbered by the trace from 1: tables by thread are this long.
std::size_t threadTableSize(const std::vector<TimelineTrack>& tracks) {
  std::uint32_t last = 0;
  for (const TimelineTrack& track : tracks) last = std::max(last, track.thread);
  return std::size_t{last} + 1;
}

// Threads that have counters but no track.
void addThreadRows(Timeline& timeline) {
  std::vector<bool> known(threadTableSize(timeline.tracks));
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.kind == TrackKind::thread) known[track.thread] = true;
  }
  const std::size_t count = timeline.tracks.size();
  for (std::size_t t = 0; t < count; ++t) {
    if (timeline.tracks[t].label.empty() || known[timeline.tracks[t].thread]) continue;
    known[timeline.tracks[t].thread] = true;
    TimelineTrack row;
    const TimelineTrack& counter = timeline.tracks[t];
    row.id = TrackId{kThreadRow + counter.thread};
    row.process = counter.process;
    row.title = counter.title.substr(0, counter.title.size() - counter.label.size() - 2);
    row.thread = counter.thread;
    row.thread_name = counter.thread_name;
    timeline.tracks.push_back(std::move(row));
  }
}

// What tracks are ordered by: process; devices, threads, other counters; which of them; counters last.
using RowKey = std::tuple<std::size_t, int, std::size_t, std::uint32_t, bool>;

// Devices first, as their work is the most frequent interest; what is of one device or thread together.
std::vector<RowKey> rowKeys(const std::vector<TimelineTrack>& tracks) {
  std::vector<std::size_t> events_of_thread(threadTableSize(tracks));
  std::map<std::pair<std::size_t, std::string>, std::size_t> first_of_device;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].kind == TrackKind::thread) events_of_thread[tracks[t].thread] += tracks[t].events;
    if (tracks[t].kind == TrackKind::stream ||
        (tracks[t].kind == TrackKind::counter && !tracks[t].device.empty()))
      first_of_device.try_emplace({tracks[t].process, tracks[t].device}, t);
  }
  std::vector<RowKey> keys;
  keys.reserve(tracks.size());
  for (const TimelineTrack& track : tracks) {
    const bool counter = track.kind == TrackKind::counter;
    if (track.kind == TrackKind::stream || (counter && !track.device.empty())) {
      keys.emplace_back(track.process, 0, first_of_device.at({track.process, track.device}), 0, counter);
    } else if (counter && track.label.empty()) {
      keys.emplace_back(track.process, 2, 0, 0, track.memory == nullptr);  // the sum before its parts
    } else {
      // A track without a thread, such as a device's asynchronous operators, is by itself.
      const std::size_t events = track.thread == 0 ? track.events : events_of_thread[track.thread];
      keys.emplace_back(track.process, 1, SIZE_MAX - events, track.thread, counter);
    }
  }
  return keys;
}

void sortTracks(std::vector<TimelineTrack>& tracks) {
  const std::vector<RowKey> keys = rowKeys(tracks);
  std::vector<std::size_t> order(tracks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  // In place, as tracks are large: each cycle of the permutation by itself.
  for (std::size_t first = 0; first < order.size(); ++first) {
    if (order[first] == first) continue;
    TimelineTrack moved = std::move(tracks[first]);
    std::size_t to = first;
    while (order[to] != first) {
      const std::size_t from = std::exchange(order[to], to);
      tracks[to] = std::move(tracks[from]);
      to = from;
    }
    tracks[to] = std::move(moved);
    order[to] = to;
  }
}

void findParents(std::vector<TimelineTrack>& tracks) {
  std::vector<std::size_t> track_of(threadTableSize(tracks), kNoTrack);
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].kind == TrackKind::thread && tracks[t].thread != 0) track_of[tracks[t].thread] = t;
  }
  for (TimelineTrack& track : tracks) {
    if (!track.label.empty()) track.parent = track_of[track.thread];
  }
}

// The end of the word or number that contains the character at `at`.
std::size_t endOfToken(const std::string& text, std::size_t at) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (at >= text.size()) return text.size();
  while (at < text.size() && !part(text[at])) ++at;
  while (at < text.size() && part(text[at])) ++at;
  return at;
}

std::size_t commonLength(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// A title that is compared by the eight characters after what all titles begin with, and only rarely as a whole.
struct SortedTitle {
  std::uint64_t key = 0;
  std::string_view title;
  std::size_t track = 0;

  SortedTitle(std::string_view of, std::size_t skipped, std::size_t t) : title(of), track(t) {
    for (std::size_t i = skipped; i < skipped + 8; ++i)
      key = key << 8 | (i < of.size() ? static_cast<unsigned char>(of[i]) : 0);
  }
  bool operator<(const SortedTitle& other) const {
    return key != other.key ? key < other.key : title < other.title;
  }
};

// Neighbours in alphabetical order have the longest beginnings in common.
void findDistinctEnds(std::vector<TimelineTrack>& tracks) {
  if (tracks.empty()) return;
  std::size_t in_all = tracks[0].title.size();
  for (const TimelineTrack& track : tracks)
    in_all = commonLength(std::string_view(tracks[0].title).substr(0, in_all), track.title);
  std::vector<SortedTitle> titles;
  titles.reserve(tracks.size());
  for (std::size_t t = 0; t < tracks.size(); ++t) titles.emplace_back(tracks[t].title, in_all, t);
  std::sort(titles.begin(), titles.end());
  std::vector<std::size_t> common(tracks.size(), 0);
  for (std::size_t i = 1; i < titles.size(); ++i) {
    const SortedTitle &a = titles[i - 1], &b = titles[i];
    if (a.title == b.title) continue;  // of different processes
    const std::size_t length = commonLength(a.title, b.title);
    common[a.track] = std::max(common[a.track], length);
    common[b.track] = std::max(common[b.track], length);
  }
  for (std::size_t t = 0; t < tracks.size(); ++t)
    tracks[t].distinct_to = endOfToken(tracks[t].title, common[t]);
}

}  // namespace

void describeTracks(const Trace& trace, Timeline& timeline) {
  const auto processes = trace.processes();
  const bool several_ranks = std::any_of(processes.begin(), processes.end(),
                                         [&](const ProcessInfo& p) { return p.rank != processes[0].rank; });
  for (const ProcessInfo& process : processes)
    timeline.processes.push_back({processTitle(process, several_ranks), process.pid, process.rank});
  const std::vector<std::string> threads = threadTitles(trace);
  const auto tracks = trace.tracks();
  timeline.tracks.reserve(tracks.size());
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    // Numbers of stacks are no values to draw.
    if (tracks[i].kind == TrackKind::counter && tracks[i].unit == kStackUnit) continue;
    TimelineTrack track;
    track.id = TrackId{static_cast<std::uint32_t>(i + 1)};
    describeTrack(trace, tracks[i], threads, track);
    if (!tracks[i].process) {  // a file that names none
      if (timeline.processes.size() == processes.size()) timeline.processes.push_back({"no process"});
      track.process = timeline.processes.size() - 1;
    } else {
      track.process = tracks[i].process.value - 1;
    }
    timeline.tracks.push_back(std::move(track));
  }
}

void arrangeTracks(Timeline& timeline) {
  addThreadRows(timeline);
  sortTracks(timeline.tracks);
  findParents(timeline.tracks);
  findDistinctEnds(timeline.tracks);
}

}  // namespace pitwall::gui
