#include "db/import/speedscope/speedscope_profile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 23;
constexpr std::size_t kMostFramesOfStack = 4096;

std::optional<std::size_t> indexIn(const JsonValue& value, std::size_t size) {
  const auto index = value.type == JsonType::number ? parseInteger(value.text) : std::nullopt;
  if (!index || *index < 0 || *index >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

}  // namespace

std::int64_t speedscopeUnitNs(std::string_view unit) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"seconds", 1'000'000'000},
                                                                  {"milliseconds", 1'000'000},
                                                                  {"microseconds", 1'000},
                                                                  {"nanoseconds", 1},
                                                                  {"none", kCountNs}};
  const auto* found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [&](const auto& known) { return known.first == unit; });
  return found == std::end(kUnits) ? 0 : found->second;
}

void SpeedscopeProfile::read(JsonStream& json) {
  json.members([&](std::string_view name) {
    if (name == "samples") samples(json);
    if (name == "weights") weights(json);
    if (name == "events") events(json);
  });
}

void SpeedscopeProfile::samples(JsonStream& json) {
  std::vector<FrameId> stack;
  json.elements([&] {
    if (samples_.size() >= kMostEntries)
      return builder_.tally().dropped("samples beyond 8388608 of one profile", [&] { return json.place(); });
    stack.clear();
    json.elements([&] {
      const auto frame = indexIn(json.value(), frames_.size());
      if (!frame)
        return builder_.tally().dropped("functions of samples that the file does not name",
                                        [&] { return json.place(); });
      if (stack.size() < kMostFramesOfStack) stack.push_back(frames_[*frame].frame);
    });
    samples_.push_back(stacks_.stack(stack));
  });
}

void SpeedscopeProfile::weights(JsonStream& json) {
  json.elements([&] {
    const JsonValue value = json.value();
    const auto weight = value.type == JsonType::number ? timeOf(value.text) : std::nullopt;
    if (weights_.size() < kMostEntries) weights_.push_back(weight && *weight >= 0 ? *weight : -1);
  });
}

void SpeedscopeProfile::events(JsonStream& json) {
  json.elements([&] {
    std::optional<std::int64_t> time;
    std::optional<std::size_t> frame;
    char type = 0;
    json.members([&](std::string_view name) {
      if (name != "type" && name != "frame" && name != "at") return;
      const JsonValue value = json.value();
      if (name == "type" && value.text.size() == 1) type = value.text.front();
      if (name == "frame") frame = indexIn(value, frames_.size());
      if (name == "at" && value.type == JsonType::number) time = timeOf(value.text);
    });
    if (!json.ok()) return;
    if (!time || !frame || (type != 'O' && type != 'C'))
      return builder_.tally().dropped("events without a type, a time or a function",
                                      [&] { return json.place(); });
    if (changes_.size() >= kMostEntries)
      return builder_.tally().dropped("events beyond 8388608 of one profile", [&] { return json.place(); });
    changes_.push_back({*time, static_cast<std::uint32_t>(*frame), type == 'O'});
  });
}

void SpeedscopeProfile::writeSamples(TrackRef stacks_of_thread) {
  std::int64_t now = start();
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::int64_t weight = i < weights_.size() ? weights_[i] : -1;
    if (weight < 0 || now + weight >= kLatestNs) {
      builder_.tally().dropped("samples without a weight", "");
      continue;
    }
    stacks_.add(stacks_of_thread, now, now + weight, samples_[i]);
    now += weight;
  }
}

void SpeedscopeProfile::close(TrackRef thread, const Open& range, std::int64_t end_ns) {
  Event event;
  event.start_ns = range.start_ns;
  event.dur_ns = end_ns - range.start_ns;
  event.name = frames_[range.frame].name;
  builder_.add(thread, event);
}

void SpeedscopeProfile::writeRanges(TrackRef thread) {
  std::vector<Open> open;
  std::int64_t last = start();
  for (const Change& change : changes_) {
    last = std::max(last, change.time_ns);
    if (change.opens) {
      open.push_back({change.time_ns, change.frame});
      continue;
    }
    const auto match = std::find_if(open.rbegin(), open.rend(),
                                    [&](const Open& range) { return range.frame == change.frame; });
    if (match == open.rend()) {
      builder_.tally().dropped("ends without a begin", "");
      continue;
    }
    for (bool matched = false; !matched; open.pop_back()) {
      matched = open.back().frame == change.frame;
      if (!matched) builder_.tally().repaired("ranges without an end: end with the range around them", "");
      close(thread, open.back(), change.time_ns);
    }
  }
  const std::int64_t end = std::max(last, timeOf(about_.end).value_or(last));
  for (; !open.empty(); open.pop_back()) {
    builder_.tally().repaired("ranges without an end: last to the end of the profile", "");
    close(thread, open.back(), end);
  }
}

}  // namespace pitwall::import
