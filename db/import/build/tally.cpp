#include "db/import/build/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "db/import/input/text.h"
#include "db/track_titles.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kDistinctWords = 4096;

template <class Map>
auto& entryOf(Map& map, std::string_view what) {
  auto found = map.find(std::string(what));
  if (found != map.end()) return found->second;
  if (map.size() >= kDistinctWords) return map["others"];
  std::string clean;
  appendClean(what, clean);
  return map[clean];
}

void countWith(ImportCount& counter, std::string_view example) {
  if (counter.count++ == 0) appendClean(example, counter.example);
}

}  // namespace

std::int64_t& Tally::record(std::string_view what) { return entryOf(summary_.records, what); }

ImportCount& Tally::notUnderstoodCounter(std::string_view what) {
  return entryOf(summary_.not_understood, what);
}
ImportCount& Tally::repairedCounter(std::string_view what) { return entryOf(summary_.repaired, what); }
ImportCount& Tally::droppedCounter(std::string_view what) { return entryOf(summary_.dropped, what); }

void Tally::setExample(ImportCount& counter, std::string_view example) {
  counter.example.clear();
  appendClean(example, counter.example);
}

void Tally::notUnderstood(std::string_view what, std::string_view example) {
  countWith(notUnderstoodCounter(what), example);
}
void Tally::repaired(std::string_view what, std::string_view example) {
  countWith(repairedCounter(what), example);
}
void Tally::dropped(std::string_view what, std::string_view example) {
  countWith(droppedCounter(what), example);
}

void Tally::repairNegativeLength(Event& event) {
  repaired("events that end before they start: length taken as 0",
           [&] { return fmt::format("an event at {} ns of length {} ns", event.start_ns, event.dur_ns); });
  event.dur_ns = 0;
}

void Tally::note(std::string text) {
  auto& notes = summary_.notes;
  if (notes.size() > kMostNotes || std::find(notes.begin(), notes.end(), text) != notes.end()) return;
  if (notes.size() == kMostNotes) text = "further notes are left out";
  notes.push_back(std::move(text));
}

void Tally::damaged(std::string text) {
  input().complete = false;
  if (input().damage.empty()) input().damage = std::move(text);
}

void Tally::device(const DeviceInfo& device) {
  std::string text = deviceTitle(device);
  if (!device.name.empty()) text += " (" + device.name + ")";
  auto& devices = summary_.devices;
  if (std::find(devices.begin(), devices.end(), text) == devices.end()) devices.push_back(std::move(text));
}

void Tally::finish() {
  auto& events = summary_.events;
  for (int kind = 0; kind < 256; ++kind) {
    if (kinds_[kind] > 0) events[toString(static_cast<EventKind>(kind))] += kinds_[kind];
  }
  if (samples_ > 0) events["counter samples"] = samples_;
  if (dependencies_ > 0) events["dependencies"] = dependencies_;
  if (events["iterations"] == 0) events.erase("iterations");
  std::sort(summary_.ranks.begin(), summary_.ranks.end());
}

}  // namespace pitwall::import
