#include "runtime/array/facts.h"

#include <fmt/format.h>

#include "db/meta.h"
#include "db/sink.h"

namespace pitwall {
namespace {

std::string join(const std::vector<TensorSpec>& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) {
    if (!text.empty()) text += ',';
    text += spec.shape.toString();
  }
  return text;
}

Bytes total(const std::vector<TensorSpec>& specs) {
  Bytes bytes = 0;
  for (const TensorSpec& spec : specs) bytes += spec.sizeBytes();
  return bytes;
}

}  // namespace

OperatorFacts describe(const Prepared& prepared, const std::string& layer, const std::string& backend,
                       Flop flop) {
  const Kernel& kernel = *prepared.kernel;
  return {.name = prepared.name,
          .layer = layer,
          .shapes = join(kernel.inputs()) + "->" + join(kernel.outputs()),
          .dtype = toString(prepared.at_hand[0].dtype),
          .backend = backend,
          .implementation = kernel.implementation(),
          .phase = prepared.phase,
          .flop = flop,
          .bytes_read = total(kernel.inputs()),
          .bytes_written = total(kernel.outputs())};
}

OperatorFacts describeWrite(const char* name, const Value& output, Phase phase) {
  const TensorSpec spec = output.spec();
  OperatorFacts facts;
  facts.name = name;
  facts.shapes = "->" + spec.shape.toString();
  facts.dtype = toString(spec.dtype);
  facts.phase = phase;
  facts.bytes_written = spec.sizeBytes();
  return facts;
}

void recordMeasured(Profiler& profiler, const Kernel& kernel) {
  if (kernel.measured().empty()) return;
  std::string text;
  for (const Kernel::Measured& each : kernel.measured())
    text += fmt::format("{}{} {:.1f} us, workspace {:.1f} MiB", text.empty() ? "" : "; ", each.implementation,
                        each.seconds * 1e6, static_cast<double>(each.workspace_bytes) / 1048576);
  text = fmt::format("{}: of {}", kernel.implementation(), text);
  profiler.withSink([&](TraceSink& sink) { sink.meta(meta::kAutotune + kernel.problem(), text); });
}

}  // namespace pitwall
