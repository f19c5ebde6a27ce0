// Reads files of speedscope, which many samplers write (py-spy, rbspy, pyinstrument, ...).
//
// A profile is a thread: a sampled one becomes its stacks, one of events its ranges. Profiles often stand before the
// functions that they refer to, so the file is read twice.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "db/import/build/sampled_stacks.h"
#include "db/import/input/byte_source.h"
#include "db/import/input/json_stream.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/import/speedscope/speedscope_profile.h"
#include "db/import/speedscope/speedscope_start.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostFunctions = std::size_t{1} << 20;
constexpr std::size_t kLongestText = 512;
constexpr std::size_t kMostProfiles = std::size_t{1} << 16;

std::string textOf(JsonStream& json) {
  const JsonValue value = json.value();
  std::string clean;
  appendClean(unescape(value.text.substr(0, kLongestText)), clean);
  return clean;
}

// The digits after `word` in a profile's name: 'Process 12 Thread 34 "MainThread"'.
std::string_view numberAfter(std::string_view name, std::string_view word) {
  const std::size_t at = name.find(word);
  if (at == name.npos) return {};
  const std::string_view rest = name.substr(at + word.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

class Speedscope {
 public:
  Speedscope(const std::string& path, const ImportOptions& options, Builder& builder)
      : path_(path), options_(options), builder_(builder), stacks_(builder) {}

  Status run() {
    PITWALL_TRY(pass([&](JsonStream& json, std::string_view name) { about(json, name); }));
    PITWALL_TRY(pass([&](JsonStream& json, std::string_view name) {
      if (name == "profiles") profiles(json);
    }));
    stacks_.end();
    end();
    return {};
  }

 private:
  template <class Visit>
  Status pass(const Visit& visit) {
    const auto source = PITWALL_TRY(ByteSource::open(path_, options_.limits));
    Window window(*source, options_, builder_.tally().input().path);
    JsonStream json(window, options_.limits.record_bytes);
    json.members([&](std::string_view name) { visit(json, name); });
    return json.finish(builder_.tally());
  }

  void about(JsonStream& json, std::string_view name);
  void function(JsonStream& json);
  void profiles(JsonStream& json);
  void write(JsonStream& json, const SpeedscopeAbout& about);
  std::string threadKey(const SpeedscopeAbout& about);
  void end();

  const std::string path_;
  const ImportOptions& options_;
  Builder& builder_;
  SampledStacks stacks_;
  std::vector<SpeedscopeFrame> functions_;
  std::vector<SpeedscopeAbout> abouts_;
  std::set<std::string> threads_;
  std::string name_, exporter_;
  bool counts_ = false, times_ = false;
};

void Speedscope::about(JsonStream& json, std::string_view name) {
  if (name == "name" && json.peek() == '"') name_ = textOf(json);
  if (name == "exporter" && json.peek() == '"') exporter_ = textOf(json);
  if (name == "shared")
    json.members([&](std::string_view member) {
      if (member == "frames") json.elements([&] { function(json); });
    });
  if (name != "profiles") return;
  json.elements([&] {
    SpeedscopeAbout about;
    json.members([&](std::string_view member) {
      if (member == "type") about.type = textOf(json);
      if (member == "name" && json.peek() == '"') about.name = textOf(json);
      if (member == "unit") about.unit = textOf(json);
      if (member == "startValue") about.start = textOf(json);
      if (member == "endValue") about.end = textOf(json);
    });
    if (abouts_.size() < kMostProfiles) abouts_.push_back(std::move(about));
  });
}

void Speedscope::function(JsonStream& json) {
  FrameInfo info;
  json.members([&](std::string_view name) {
    if (name != "name" && name != "file" && name != "line") return;
    const JsonValue value = json.value();
    if (name == "name") info.function = unescape(value.text.substr(0, kLongestName));
    if (name == "file" && value.type == JsonType::string)
      info.file = unescape(value.text.substr(0, kLongestName));
    const auto line = name == "line" ? parseInteger(value.text) : std::nullopt;
    if (line && *line > 0 && *line < INT32_MAX) info.line = static_cast<std::int32_t>(*line);
  });
  if (!json.ok()) return;
  if (functions_.size() >= kMostFunctions)
    return builder_.tally().dropped("functions beyond 1048576", [&] { return json.place(); });
  info.language = languageOf(info.file);
  const std::string key = fmt::format("{}\n{}\n{}", info.function, info.file, info.line);
  functions_.push_back({stacks_.frame(key, [&] { return info; }), builder_.names().name(info.function)});
}

// Two profiles of one thread are two threads here: their times overlap.
std::string Speedscope::threadKey(const SpeedscopeAbout& about) {
  const std::string_view number = numberAfter(about.name, "Thread ");
  std::string key = number.empty() ? fmt::format("profile {}", threads_.size() + 1) : std::string(number);
  const std::string_view process = numberAfter(about.name, "Process ");
  if (!threads_.insert(fmt::format("{} {}", process, key)).second) {
    key += fmt::format(" ({})", threads_.size() + 1);
    threads_.insert(fmt::format("{} {}", process, key));
  }
  return key;
}

void Speedscope::write(JsonStream& json, const SpeedscopeAbout& about) {
  ++builder_.tally().record(fmt::format("profiles {}", about.type.substr(0, 60)));
  const std::int64_t unit = speedscopeUnitNs(about.unit);
  const bool sampled = about.type == "sampled";
  if (unit == 0 || (!sampled && about.type != "evented"))
    return builder_.tally().notUnderstood(
        "profiles of other kinds or units than time",
        fmt::format("type {}, unit {}", quotedText(about.type), quotedText(about.unit)));
  (about.unit == "none" ? counts_ : times_) = true;
  SpeedscopeProfile profile(builder_, stacks_, functions_, about, unit);
  profile.read(json);
  const std::string_view pid = numberAfter(about.name, "Process ");
  const ProcessRef process = builder_.tracks().process(pid.empty() ? "0" : std::string(pid));
  builder_.tracks().nameProcess(process, name_.empty() ? "profile of speedscope" : name_);
  const std::string key = threadKey(about);
  const TrackRef track =
      sampled ? builder_.tracks().stacks(process, key) : builder_.tracks().thread(process, key);
  const std::size_t quote = about.name.find('"');
  const std::string_view shown =
      quote == about.name.npos
          ? std::string_view(about.name)
          : std::string_view(about.name).substr(quote + 1, about.name.rfind('"') - quote - 1);
  if (!shown.empty()) builder_.tracks().nameThread(track, shown);
  sampled ? profile.writeSamples(track) : profile.writeRanges(track);
}

void Speedscope::profiles(JsonStream& json) {
  std::size_t at = 0;
  json.elements([&] {
    if (at < abouts_.size()) {
      write(json, abouts_[at++]);
    } else {
      builder_.tally().dropped("profiles beyond 65536", [&] { return json.place(); });
    }
  });
}

void Speedscope::end() {
  ImportedInput& input = builder_.tally().input();
  input.format = "speedscope profile";
  input.version = exporter_;
  input.clock = "time since each profile's start";
  builder_.meta(meta::kProducer, exporter_.empty() ? "speedscope" : exporter_);
  if (!counts_ || times_) return;
  builder_.meta("import.timeline", "sums only");
  builder_.tally().note(fmt::format(
      "{}: holds counts of samples, not times: each count is taken as 1 ms, and only shares mean something",
      input.path));
}

}  // namespace

bool isSpeedscope(std::string_view start) {
  return start.starts_with('{') && start.find("speedscope.app/file-format-schema") != start.npos;
}

Status readSpeedscope(const std::string& path, const ImportOptions& options, Builder& builder) {
  return Speedscope(path, options, builder).run();
}

}  // namespace pitwall::import
