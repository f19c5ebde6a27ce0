// Interprets the profile that ONNX Runtime writes with the session option enable_profiling.
//
// Times are whole microseconds since the profiler's start, which the file does not give. An operator is one
// event NAME_kernel_time of category Node; versions before 1.15 also write NAME_fence_before and
// NAME_fence_after around it, which say nothing. Kernels of a GPU follow the operator that launched them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/import/chrome/dialect.h"
#include "db/import/input/recent_texts.h"
#include "db/import/input/text.h"
#include "db/import/ort/ort_shapes.h"
#include "db/import/readers.h"
#include "db/json_string.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostRuns = std::size_t{1} << 20;

std::optional<std::int64_t> ortInteger(const ChromeEvent& event, std::string_view name) {
  const JsonValue value = event.arg(name);
  return value.isNumberOrString() ? parseInteger(value.text) : std::nullopt;
}

std::int64_t ortSize(const ChromeEvent& event, std::string_view name) {
  const auto size = ortInteger(event, name);
  return size && *size > 0 && *size < kLatestNs ? *size : 0;
}

std::string ortText(const JsonValue& value) {
  std::string clean;
  appendClean(unescape(value.text), clean);
  return clean;
}

class OrtProfile final : public ChromeDialect {
 public:
  explicit OrtProfile(Builder& builder) : builder_(builder) {}

  bool take(const ChromeEvent& event, const Place& place) override;
  void end() override;

 private:
  struct Known {
    OperatorId facts;
    StringId name;
    StringId args;
  };

  void node(const ChromeEvent& event, std::string_view name, Event out);
  Known operatorOf(const ChromeEvent& event, std::string_view node) const;
  void memory(const ChromeEvent& event, std::int64_t time_ns);
  void deviceWork(const ChromeEvent& event, Event out);
  void session(const ChromeEvent& event, std::string_view name, Event out);
  void iterations();
  ProcessRef processOf(const ChromeEvent& event) {
    const ProcessRef process = builder_.tracks().process(event.process.text);
    builder_.tracks().keyIsPid(process);
    return process;
  }
  TrackRef threadOf(const ChromeEvent& event) {
    return builder_.tracks().thread(processOf(event), event.thread.text);
  }

  Builder& builder_;
  RecentTexts<Known> operators_;
  std::vector<std::pair<std::int64_t, std::int64_t>> runs_;  // begin and end of each model_run
  // The operator that the next kernels belong to.
  std::string launcher_;
  CorrelationId launcher_id_ = 0;
  std::int64_t kernels_without_launcher_ = 0;
};

bool OrtProfile::take(const ChromeEvent& event, const Place& place) {
  const std::string_view category = event.category.text;
  const bool known = category == "Node" || category == "Session" || category == "Kernel" || category == "Api";
  if (event.ph() != 'X' || !known) return false;
  const auto start = event.timeNs();
  const auto duration = event.durationNs();
  if (!start || !duration) {
    builder_.tally().dropped("events whose time (ts) or length (dur) is missing or no number", place);
    return true;
  }
  Event out;
  out.start_ns = *start;
  out.dur_ns = *duration;
  const std::string name = unescape(event.name.text);
  out.name = builder_.names().name(name);
  if (category == "Node") {
    node(event, name, out);
  } else if (category == "Kernel") {
    deviceWork(event, out);
  } else if (category == "Api") {
    out.kind = EventKind::api;
    builder_.add(threadOf(event), out);
  } else {
    session(event, name, out);
  }
  return true;
}

void OrtProfile::session(const ChromeEvent& event, std::string_view name, Event out) {
  if (!builder_.add(threadOf(event), out) || name != "model_run") return;
  if (runs_.size() < kMostRuns) {
    runs_.emplace_back(out.start_ns, out.start_ns + std::max<std::int64_t>(0, out.dur_ns));
  } else {
    builder_.tally().dropped(fmt::format("runs of the model beyond the first {}: no iterations", kMostRuns),
                             name);
  }
}

OrtProfile::Known OrtProfile::operatorOf(const ChromeEvent& event, std::string_view node) const {
  OperatorFacts facts;
  facts.name = ortText(event.arg("op_name"));
  facts.backend = ortText(event.arg("provider"));
  appendClean(node, facts.layer);
  if (facts.name.empty()) facts.name = facts.layer;
  const OrtShapes in = ortShapes(event.arg("input_type_shape").text);
  const OrtShapes out = ortShapes(event.arg("output_type_shape").text);
  facts.shapes = out.shapes.empty() ? in.shapes : in.shapes + "->" + out.shapes;
  facts.dtype = in.first_type.empty() ? out.first_type : in.first_type;
  facts.bytes_read = ortSize(event, "activation_size") + ortSize(event, "parameter_size");
  facts.bytes_written = ortSize(event, "output_size");
  Known known{builder_.names().facts(facts), builder_.names().name(facts.name), {}};
  if (!in.types.empty())
    known.args = builder_.names().args(fmt::format("{{\"input_types\":{}}}", jsonString(in.types)));
  return known;
}

void OrtProfile::node(const ChromeEvent& event, std::string_view name, Event out) {
  constexpr std::string_view kKernelTime = "_kernel_time";
  if (name.ends_with("_fence_before") || name.ends_with("_fence_after")) {
    builder_.tally().notUnderstood("fences before and after operators: they say nothing about time", name);
    return;
  }
  if (name.ends_with(kKernelTime)) name.remove_suffix(kKernelTime.size());
  const std::string_view provider = event.arg("provider").text;
  const TextKey key{
      hashOf(hashOf(hashOf(0, provider), event.arg("output_type_shape").text), event.arg("op_name").text),
      name, event.arg("input_type_shape").text};
  const Known* known = operators_.find(key);
  if (known == nullptr) known = &operators_.put(key, operatorOf(event, name));
  out.kind = EventKind::operatorRun;
  out.op = known->facts;
  out.name = known->name;
  out.args = known->args;
  if (provider != "CPUExecutionProvider") {  // it may launch kernels, which refer to it by name
    launcher_ = std::string(name);
    launcher_id_ = out.correlation = builder_.arrows().newCorrelation();
  }
  if (builder_.add(threadOf(event), out)) memory(event, out.start_ns + std::max<std::int64_t>(0, out.dur_ns));
}

// The allocator's state after the operator, which newer versions write.
void OrtProfile::memory(const ChromeEvent& event, std::int64_t time_ns) {
  const std::string_view provider = event.arg("provider").text;
  const std::string where = provider == "CPUExecutionProvider" ? "cpu" : ortText(event.arg("provider"));
  for (const auto& [arg, counter] :
       {std::pair<std::string_view, const char*>{"mem_bytes_in_use", "allocated"},
        {"mem_arena_held", "reserved"}}) {
    const auto bytes = ortInteger(event, arg);
    if (!bytes || *bytes < 0) continue;
    const TrackRef track =
        builder_.tracks().counter(processOf(event), fmt::format("memory {}: {}", counter, where), "bytes");
    builder_.sample(track, time_ns, static_cast<double>(*bytes));
  }
}

void OrtProfile::deviceWork(const ChromeEvent& event, Event out) {
  const std::string_view name = event.name.text;
  const bool copies = name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("MemCpy");
  out.kind = copies ? EventKind::copy : EventKind::kernel;
  if (copies) out.value = ortSize(event, "size");
  KernelFacts facts;
  constexpr const char* kGrid[] = {"grid_x", "grid_y", "grid_z"};
  constexpr const char* kBlock[] = {"block_x", "block_y", "block_z"};
  const auto extent = [&](const char* arg) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(ortSize(event, arg), INT32_MAX));
  };
  for (std::size_t i = 0; i < 3; ++i) {
    facts.grid[i] = extent(kGrid[i]);
    facts.block[i] = extent(kBlock[i]);
  }
  if (!copies && facts.block[0] > 0) out.kernel = builder_.names().kernel(facts);
  const JsonValue parent = event.arg("parent_name");
  const std::string parent_name = unescape(parent.text);
  std::string_view parent_node = parent_name;
  if (parent_node.ends_with("_kernel_time")) parent_node.remove_suffix(12);
  if (launcher_id_ != 0 && (parent.type == JsonType::none || parent_node == launcher_)) {
    out.correlation = builder_.arrows().newCorrelation();
    builder_.arrows().depend(launcher_id_, out.correlation, DependencyKind::launch);
  } else {
    ++kernels_without_launcher_;
  }
  builder_.tracks().ownerProcess(processOf(event));
  const DeviceRef gpu = builder_.tracks().device("gpu", 0);  // the file does not number the devices
  const JsonValue stream = event.arg("stream");
  builder_.add(builder_.tracks().stream(Tracks::owner(), gpu,
                                        stream.isNumberOrString() ? stream.text : std::string_view("0")),
               out);
}

// Each run of the model is an iteration, unless several run at a time.
void OrtProfile::iterations() {
  std::sort(runs_.begin(), runs_.end());
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    if (runs_[i].first < runs_[i - 1].second) {
      builder_.tally().note(fmt::format("{}: runs of the model overlap, so they are not iterations",
                                        builder_.tally().input().path));
      return;
    }
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    builder_.mark(static_cast<std::int64_t>(i), runs_[i].first);
    builder_.mark(static_cast<std::int64_t>(i) + 1, runs_[i].second);
  }
  if (!runs_.empty()) builder_.meta("import.iteration_ends", "marked");
}

void OrtProfile::end() {
  iterations();
  if (kernels_without_launcher_ > 0)
    builder_.tally().note(
        fmt::format("{}: {} kernels and copies of a device do not follow the operator that "
                    "launched them: not joined",
                    builder_.tally().input().path, kernels_without_launcher_));
  ImportedInput& input = builder_.tally().input();
  input.format = "ONNX Runtime profile";
  input.clock = "microseconds since the session's profiler began";
  builder_.meta(meta::kProducer, "ONNX Runtime profiler");
}

}  // namespace

Status readOrt(Window& window, const ImportOptions& options, Builder& builder) {
  OrtProfile dialect(builder);
  return readChromeAs(window, options, builder, dialect);
}

}  // namespace pitwall::import
