#include "db/import/xla/xla_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostSteps = std::size_t{1} << 20;

// "dot.12" -> "dot"
std::string_view withoutNumber(std::string_view op) {
  const std::size_t dot = op.find_last_of('.');
  const bool number = dot != std::string_view::npos && dot + 1 < op.size() &&
                      op.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return number ? op.substr(0, dot) : op;
}

std::string cleaned(std::string_view text) {
  std::string clean;
  appendClean(text, clean);
  return clean;
}

}  // namespace

XlaEvents::Line XlaEvents::line(const XlaDevice& device, std::string_view name) {
  Line line;
  line.device = builder_.tracks().device(device.kind, device.index);
  if (!device.name.empty()) builder_.tracks().nameDevice(line.device, device.name, 0);
  line.kind = xlaLine(name);
  if (line.kind == XlaLine::ops && device.kind == "gpu") line.kind = XlaLine::derived;
  const bool work = line.kind == XlaLine::stream || line.kind == XlaLine::ops;
  line.track = work ? builder_.tracks().stream(Tracks::owner(), line.device, xlaStream(name))
                    : builder_.tracks().stream(Tracks::owner(), line.device, "0", name);
  return line;
}

void XlaEvents::rememberStep(std::vector<Step>& steps, std::string_view number, const XlaEvent& event) {
  const auto parsed = parseInteger(number);
  if (!parsed || *parsed < 0 || *parsed >= kLatestNs) return;
  if (steps.size() < kMostSteps) return steps.push_back({*parsed, event.start_ns, event.end_ns});
  builder_.tally().dropped(fmt::format("marks of steps beyond the first {}", kMostSteps), number);
}

StringId XlaEvents::argsOf(const XlaEvent& event) {
  if (event.hlo_module.empty() && event.hlo_op.empty() && event.framework_op.empty()) return {};
  const TextKey key{hashOf(0, event.framework_op), event.hlo_module, event.hlo_op};
  if (const StringId* known = args_.find(key)) return *known;
  std::string text;
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty())
      text +=
          fmt::format("{}\"{}\":{}", text.empty() ? '{' : ',', name, cleanJsonString(value.substr(0, 512)));
  };
  add("hlo_module", event.hlo_module);
  add("hlo_op", event.hlo_op);
  add("framework_op", event.framework_op);
  return args_.put(key, builder_.names().args(text + "}"));
}

KernelId XlaEvents::kernelOf(std::string_view details) {
  if (details.empty()) return {};
  if (const KernelId* known = kernels_.find({0, details})) return *known;
  return kernels_.put({0, details}, builder_.names().kernel(xlaKernel(details)));
}

void XlaEvents::work(const Line& line, const XlaEvent& event, Event out) {
  out.kind = EventKind::kernel;
  if (const auto copy = xlaCopy(event.name, event.copy_details)) {
    out.kind = EventKind::copy;
    out.name = builder_.names().name(copy->name);
    out.value = copy->bytes;
  } else {
    if (isXlaCollective(event.name) || isXlaCollective(event.hlo_op)) out.kind = EventKind::communication;
    out.kernel = kernelOf(event.kernel_details);
  }
  if (line.kind == XlaLine::stream) out.correlation = launches_.device(event.correlation);
  builder_.add(line.track, out);
}

void XlaEvents::onDevice(const Line& line, const XlaEvent& event) {
  Event out;
  out.start_ns = event.start_ns;
  out.dur_ns = event.end_ns - event.start_ns;
  out.name = builder_.names().name(event.name);
  out.args = argsOf(event);
  if (line.kind == XlaLine::stream || line.kind == XlaLine::ops) return work(line, event, out);
  if (line.kind == XlaLine::steps) rememberStep(device_steps_, event.name, event);
  builder_.add(line.track, out);
}

// XLA's operations that run on the host itself.
OperatorId XlaEvents::operatorOf(const XlaEvent& event) {
  const TextKey key{0, event.hlo_op, event.hlo_module};
  if (const OperatorId* known = operators_.find(key)) return *known;
  OperatorFacts facts;
  facts.name = cleaned(withoutNumber(event.hlo_op));
  facts.layer = cleaned(event.hlo_op);
  facts.backend = "xla";
  return operators_.put(key, builder_.names().facts(facts));
}

void XlaEvents::onHost(TrackRef thread, const XlaEvent& event, bool calls) {
  Event out;
  out.start_ns = event.start_ns;
  out.dur_ns = event.end_ns - event.start_ns;
  out.name = builder_.names().name(event.name);
  out.args = argsOf(event);
  if (event.correlation != 0) out.correlation = launches_.host(event.correlation);
  if (event.correlation != 0 || calls) {
    out.kind = EventKind::api;
  } else if (!event.hlo_op.empty()) {
    out.kind = EventKind::operatorRun;
    out.op = operatorOf(event);
  }
  if (!event.step.empty()) rememberStep(host_steps_, event.step, event);
  builder_.add(thread, out);
}

void XlaEvents::end() {
  launches_.end();
  // The program's own steps, where it names them; else those that the profiler derives for the devices.
  const std::vector<Step>& steps = host_steps_.empty() ? device_steps_ : host_steps_;
  for (const Step& step : steps) {
    builder_.mark(step.number, step.start_ns);
    builder_.mark(step.number + 1, step.end_ns);
  }
  if (!steps.empty()) builder_.meta("import.iteration_ends", "marked");
}

}  // namespace pitwall::import
