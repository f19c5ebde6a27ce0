// Reads stacks of one line each with a count ("main;train;step 12"), as flame graphs are drawn from: py-spy's raw
// output, stackcollapse-perf.pl. The count is of samples, whose rate the file does not give.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/import/build/sampled_stacks.h"
#include "db/import/input/line_reader.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/import/speedscope/speedscope_start.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::int64_t kSampleNs = 1'000'000;
constexpr std::int64_t kMostSamples = kLatestNs / kSampleNs;

struct CollapsedLine {
  std::string_view stack;
  std::int64_t count = 0;
};

std::optional<CollapsedLine> collapsedLine(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const std::size_t blank = line.rfind(' ');
  if (blank == line.npos || blank == 0) return std::nullopt;
  const auto count = parseInteger(line.substr(blank + 1));
  if (!count || *count < 0 || *count > kMostSamples) return std::nullopt;
  return CollapsedLine{line.substr(0, blank), *count};
}

// "step (train.py:12)" as py-spy writes it, else only a name.
FrameInfo collapsedFrame(std::string_view text) {
  FrameInfo info{std::string(text), "", 0, "native"};
  const std::size_t open = text.rfind(" (");
  const std::size_t colon = text.rfind(':');
  if (open == text.npos || !text.ends_with(')') || colon == text.npos || colon < open) return info;
  const auto line = parseInteger(text.substr(colon + 1, text.size() - colon - 2));
  if (!line || *line < 0 || *line > INT32_MAX) return info;
  info.function = std::string(text.substr(0, open));
  info.file = std::string(text.substr(open + 2, colon - open - 2));
  info.line = static_cast<std::int32_t>(*line);
  info.language = languageOf(info.file);
  return info;
}

}  // namespace

// All lines that can be seen are such stacks, and one has a caller.
bool isCollapsed(std::string_view start) {
  bool has_caller = false;
  int lines = 0;
  for (std::size_t at = 0; at < start.size() && lines < 64; ++lines) {
    const std::size_t end = start.find('\n', at);
    if (end == start.npos && lines > 0) break;  // it may be cut
    const auto line = collapsedLine(start.substr(at, std::min(end, start.size()) - at));
    if (!line) return false;
    has_caller = has_caller || line->stack.find(';') != line->stack.npos;
    at = std::min(end, start.size() - 1) + 1;
  }
  return has_caller;
}

Status readCollapsed(Window& window, const ImportOptions&, Builder& builder) {
  SampledStacks stacks(builder);
  const ProcessRef process = builder.tracks().process("0");
  builder.tracks().nameProcess(process, "collapsed stacks");
  const TrackRef track = builder.tracks().stacks(process, "0");
  builder.tracks().nameThread(track, "all threads");
  std::int64_t now = 0;
  std::vector<FrameId> frames;
  PITWALL_TRY(eachLine(window, kLongestLine, [&](std::string_view text) {
    if (text.find_first_not_of(" \t\r") == text.npos || text.starts_with('#')) return;
    const auto line = collapsedLine(text);
    if (!line || now + line->count * kSampleNs >= kLatestNs)
      return builder.tally().dropped("lines without a count", [&] {
        return fmt::format("{}: {}", window.place(), quotedText(text, 80));
      });
    ++builder.tally().record("lines");
    frames.clear();
    for (std::size_t at = 0; at <= line->stack.size();) {
      const std::size_t end = std::min(line->stack.find(';', at), line->stack.size());
      const std::string_view frame = line->stack.substr(at, end - at);
      if (!frame.empty()) frames.push_back(stacks.frame(frame, [&] { return collapsedFrame(frame); }));
      at = end + 1;
    }
    stacks.add(track, now, now + line->count * kSampleNs, stacks.stack(frames));
    now += line->count * kSampleNs;
  }));
  stacks.end();
  ImportedInput& input = builder.tally().input();
  input.format = "collapsed stacks";
  input.clock = "none: the file has counts";
  builder.meta("import.timeline", "sums only");
  builder.meta(meta::kProducer, "collapsed stacks");
  builder.tally().note(fmt::format(
      "{}: holds counts of samples, not times: each count is taken as 1 ms, and only shares mean something",
      input.path));
  if (!window.source().damage().empty()) builder.tally().damaged(window.source().damage());
  return {};
}

}  // namespace pitwall::import
