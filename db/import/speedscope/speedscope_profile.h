// One profile of a file of speedscope: the samples of a thread with their weights, or its ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/import/build/sampled_stacks.h"
#include "db/import/input/json_stream.h"

namespace pitwall::import {

// What is said of a profile before its data, in whatever order the file has them.
struct SpeedscopeAbout {
  std::string type;  // "sampled", "evented"
  std::string name;
  std::string unit;
  std::string start;  // numbers as the file has them, in its unit
  std::string end;
};

struct SpeedscopeFrame {
  FrameId frame;
  StringId name;
};

// Nanoseconds of a unit; of "none", which counts samples, kCountNs. 0 where it is no time.
inline constexpr std::int64_t kCountNs = 1'000'000;
std::int64_t speedscopeUnitNs(std::string_view unit);

class SpeedscopeProfile {
 public:
  SpeedscopeProfile(Builder& builder, SampledStacks& stacks, const std::vector<SpeedscopeFrame>& frames,
                    const SpeedscopeAbout& about, std::int64_t unit_ns)
      : builder_(builder), stacks_(stacks), frames_(frames), about_(about), unit_ns_(unit_ns) {}

  void read(JsonStream& json);
  // Into the stacks, or the ranges, of this thread.
  void writeSamples(TrackRef stacks_of_thread);
  void writeRanges(TrackRef thread);

 private:
  struct Change {
    std::int64_t time_ns = 0;
    std::uint32_t frame = 0;
    bool opens = false;
  };
  struct Open {
    std::int64_t start_ns = 0;
    std::uint32_t frame = 0;
  };

  std::int64_t start() const { return timeOf(about_.start).value_or(0); }
  std::optional<std::int64_t> timeOf(std::string_view text) const { return parseScaled(text, unit_ns_); }
  void samples(JsonStream& json);
  void weights(JsonStream& json);
  void events(JsonStream& json);
  void close(TrackRef thread, const Open& range, std::int64_t end_ns);

  Builder& builder_;
  SampledStacks& stacks_;
  const std::vector<SpeedscopeFrame>& frames_;
  const SpeedscopeAbout& about_;
  const std::int64_t unit_ns_;
  std::vector<StackId> samples_;
  std::vector<std::int64_t> weights_;  // ns; -1 = no number
  std::vector<Change> changes_;
};

}  // namespace pitwall::import
