// Interprets trace.json(.gz) of JAX and TensorFlow: Chrome Trace Event JSON in which a process is a device
// (/device:GPU:0) or the host (/host:CPU), and a thread a stream, a thread or one of the lines that the
// profiler derives. The file is cut to about a million events; xplane.pb beside it has all of them.
#include "db/import/xla/trace_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "db/import/chrome/dialect.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/import/xla/xla_events.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostProcesses = 4096;
constexpr std::size_t kMostLines = std::size_t{1} << 16;
constexpr std::int64_t kManyEvents = 1'000'000;

class XlaTraceJson final : public ChromeDialect {
 public:
  explicit XlaTraceJson(Builder& builder) : builder_(builder), events_(builder) {}

  bool take(const ChromeEvent& event, const Place& place) override;
  void end() override;

 private:
  struct Line {
    std::string name;
    std::optional<XlaEvents::Line> device;
    TrackRef thread;
    bool known = false;
  };

  void metadata(const ChromeEvent& event);
  Line* lineAt(const ChromeEvent& event);
  Line& lineOf(const ChromeEvent& event, const Place& place);
  void complete(const ChromeEvent& event, const Place& place);

  Builder& builder_;
  XlaEvents events_;
  std::unordered_map<std::string, std::string> processes_;  // by pid
  std::unordered_map<std::string, Line> lines_;             // by pid and tid
  Line others_;                                             // of all beyond the bound
  std::int64_t complete_ = 0;
};

bool XlaTraceJson::take(const ChromeEvent& event, const Place& place) {
  const char ph = event.ph();
  if (ph == 'M') return metadata(event), true;
  if (ph == 'X') return complete(event, place), true;
  // The writer ends its array with an empty object.
  return ph == '\0' && place.raw.size() <= 3;
}

void XlaTraceJson::metadata(const ChromeEvent& event) {
  const JsonValue name = event.arg(Arg::name);
  if (name.type != JsonType::string) return;  // sort indexes
  if (event.name.text == "process_name") {
    if (processes_.size() >= kMostProcesses && !processes_.contains(std::string(event.process.text)))
      return builder_.tally().dropped(fmt::format("names of processes beyond the first {}", kMostProcesses),
                                      event.process.text);
    processes_[std::string(event.process.text)] = unescape(name.text);
  } else if (event.name.text == "thread_name") {
    if (Line* const line = lineAt(event)) line->name = unescape(name.text);
  }
}

// None beyond the bound for lines.
XlaTraceJson::Line* XlaTraceJson::lineAt(const ChromeEvent& event) {
  const std::string key = fmt::format("{}\n{}", event.process.text, event.thread.text);
  if (lines_.size() >= kMostLines) {
    const auto found = lines_.find(key);
    return found == lines_.end() ? nullptr : &found->second;
  }
  return &lines_[key];
}

XlaTraceJson::Line& XlaTraceJson::lineOf(const ChromeEvent& event, const Place& place) {
  const ProcessRef host = builder_.tracks().process("host");
  Line* const own = lineAt(event);
  if (own == nullptr) {
    builder_.tally().repaired(fmt::format("events of lines beyond the first {}: on one row", kMostLines),
                              place);
    others_.thread = builder_.tracks().lane(host, "other lines");
    return others_;
  }
  Line& line = *own;
  if (line.known) return line;
  line.known = true;
  const auto found = processes_.find(std::string(event.process.text));
  const std::string plane = found == processes_.end() ? std::string() : found->second;
  builder_.tracks().ownerProcess(host);
  builder_.tracks().nameProcess(host, "host");
  if (const auto device = xlaDevice(plane)) {
    line.device = events_.line(*device, line.name);
  } else if (plane.find("/host:CPU") != std::string::npos) {
    line.thread = builder_.tracks().thread(host, event.thread.text);
    if (!line.name.empty()) builder_.tracks().nameThread(line.thread, line.name);
  } else {
    line.thread = builder_.tracks().lane(host, fmt::format("{}: {}", plane, line.name));
  }
  return line;
}

void XlaTraceJson::complete(const ChromeEvent& event, const Place& place) {
  ++complete_;
  constexpr std::int64_t kPicoseconds = 1'000'000;  // of a microsecond
  constexpr std::int64_t kAbsent = -1;
  const std::int64_t start_ps =
      event.time.isNumberOrString() ? parseScaled(event.time.text, kPicoseconds).value_or(kAbsent) : kAbsent;
  const std::int64_t length_ps = event.duration.isNumberOrString()
                                     ? parseScaled(event.duration.text, kPicoseconds).value_or(kAbsent)
                                     : kAbsent;
  if (start_ps < 0 || length_ps < 0) {
    builder_.tally().dropped("events whose time (ts) or length (dur) is missing or no number", place);
    return;
  }
  if (start_ps >= kLatestNs / 2 || length_ps >= kLatestNs / 2)
    return builder_.tally().dropped("events with a time out of range", place);
  const std::string name = unescape(event.name.text);
  const auto text = [&](std::string_view arg) { return unescape(event.arg(arg).text); };
  const std::string kernel = text("kernel_details");
  std::string copy = text("memcpy_details");
  if (copy.empty()) copy = text("memset_details");
  const std::string op = text("hlo_op");
  const std::string module = text("hlo_module");
  const std::string framework = text("tf_op");
  const std::string step = text("step_num");
  XlaEvent out;
  out.name = name;
  // Both ends are rounded alike, so that what encloses an event still does.
  out.start_ns = (start_ps + 500) / 1000;
  out.end_ns = (start_ps + length_ps + 500) / 1000;
  const auto correlation = parseInteger(event.arg("correlation_id").text);
  out.correlation = correlation && *correlation > 0 ? static_cast<std::uint64_t>(*correlation) : 0;
  out.kernel_details = kernel;
  out.copy_details = copy;
  out.hlo_op = op;
  out.hlo_module = module;
  out.framework_op = framework;
  out.step = step;
  Line& line = lineOf(event, place);
  if (line.device) {
    events_.onDevice(*line.device, out);
  } else {
    events_.onHost(line.thread, out);
  }
}

void XlaTraceJson::end() {
  events_.end();
  ImportedInput& input = builder_.tally().input();
  input.format = "trace JSON of JAX or TensorFlow";
  input.clock = "microseconds since the session's start";
  builder_.meta(meta::kProducer, "XLA profiler (JAX, TensorFlow)");
  if (complete_ >= kManyEvents)
    builder_.tally().note(
        fmt::format("{}: has {} events: the profiler cuts this file at about a million; import "
                    "the file .xplane.pb beside it",
                    input.path, complete_));
}

}  // namespace

bool isXlaTraceJson(std::string_view start) {
  const auto has = [&](std::string_view what) { return start.find(what) != std::string_view::npos; };
  return start.starts_with('{') && has("\"traceEvents\"") && has("\"process_name\"") &&
         (has("/host:CPU\"") || has("/device:GPU:") || has("/device:TPU:")) && !has("/job:") &&
         !has("\"schemaVersion\"");
}

Status readXlaTraceJson(Window& window, const ImportOptions& options, Builder& builder) {
  XlaTraceJson dialect(builder);
  return readChromeAs(window, options, builder, dialect);
}

}  // namespace pitwall::import
