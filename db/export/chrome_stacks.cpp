// Sampled stacks of a Chrome trace, as other tools' flame views read them: `stackFrames` and `samples`.

#include <string_view>

#include "db/export/append_text.h"
#include "db/export/chrome_writer.h"
#include "db/export/json_text.h"
#include "db/json_string.h"
#include "db/stacks.h"
#include "db/try.h"

namespace pitwall::exporting {
namespace {

constexpr std::size_t kSamplesOfAStep = 8192;

// Functions of one name in two files are two functions for a reader who adds up names.
std::string shownFunction(const FrameInfo& frame) {
  if (frame.language != "python" || frame.file.empty()) return frame.function;
  return fmt::format("{} ({})", frame.function, frame.file.substr(frame.file.rfind('/') + 1));
}

}  // namespace

bool ChromeWriter::hasStacks(TrackId track) const {
  const TrackInfo& info = trace_.tracks()[track.value - 1];
  return info.kind == TrackKind::counter && info.unit == kStackUnit && info.name != kNativeFunctionTrack &&
         selection_.has(track);
}

// A node of the tree is a stack: its innermost function, with the stack of its caller as parent.
Status ChromeWriter::stackTree() {
  out_.append(",\n\"stackFrames\":{");
  const auto frames = trace_.frames();
  const auto stacks = trace_.stacks();
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const FrameInfo& frame = frames[stacks[i].frame.value - 1];
    appendText(out_.buffer(), "{}\n\"{}\":{{\"name\":", i == 0 ? "" : ",", i + 1);
    appendJsonString(shownFunction(frame), out_.buffer());
    text("category", frame.language);
    if (stacks[i].caller) appendText(out_.buffer(), ",\"parent\":\"{}\"", stacks[i].caller.value);
    if (!frame.file.empty()) text("file", frame.file);
    if (frame.line > 0) integer("line", frame.line);
    out_.append("}");
    PITWALL_TRY(out_.flush());
  }
  out_.append("\n}");
  return {};
}

Status ChromeWriter::stackSamples(TrackId track, bool& first) {
  const std::vector<CounterSample> samples = PITWALL_TRY(samplesOf(trace_, track, selection_));
  const std::vector<TimeNs> times = stackTimes(samples);
  const ChromeRow row = rows_.threadOf(track);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const StackId stack = stackOf(samples[i], trace_.stacks().size());
    if (!stack) continue;
    out_.append(first ? "\n{\"name\":\"stack\"" : ",\n{\"name\":\"stack\"");
    first = false;
    place(row, samples[i].time_ns);
    appendText(out_.buffer(), ",\"sf\":\"{}\",\"weight\":", stack.value);
    appendMicroseconds(out_.buffer(), times[i]);
    out_.append("}");
    if ((i + 1) % kSamplesOfAStep == 0) PITWALL_TRY(out_.flush());
  }
  return out_.flush();
}

// After the events: a reader that stops at their end has lost nothing else.
Status ChromeWriter::sampledStacks() {
  std::vector<TrackId> tracks;
  for (std::uint32_t id = 1; id <= trace_.tracks().size(); ++id) {
    if (hasStacks(TrackId{id})) tracks.push_back(TrackId{id});
  }
  if (tracks.empty()) return {};
  PITWALL_TRY(stackTree());
  out_.append(",\n\"samples\":[");
  bool first = true;
  for (const TrackId track : tracks) PITWALL_TRY(stackSamples(track, first));
  out_.append("\n]");
  return {};
}

}  // namespace pitwall::exporting
