#include "runtime/engine/operator_runner.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "runtime/profiler/cupti/operator_scope.h"

namespace pitwall::engine {
namespace {

bool runsDespiteErrors(OperatorClass operator_class) {
  return operator_class == OperatorClass::noSkip || operator_class == OperatorClass::deletion;
}

OperatorId registerDeletion(Profiler& profiler) {
  OperatorFacts facts;
  facts.name = "DeleteVariable";
  return profiler.operatorFacts(facts);
}

}  // namespace

OperatorRunner::OperatorRunner(Profiler& profiler, std::function<void()> before_gpu_operator)
    : profiler_(profiler),
      bulk_site_(profiler.site("bulk", EventKind::bulk)),
      deletion_facts_(registerDeletion(profiler)),
      before_gpu_operator_(std::move(before_gpu_operator)),
      ranges_(profiler) {}

void OperatorRunner::run(Operator& op, Ticks ready, bool is_bulk) {
  const Ticks started = profiler_.isRecording() ? Profiler::now() : 0;
  if (op.device_kind == DeviceKind::gpu && started != 0 && before_gpu_operator_) [[unlikely]]
    before_gpu_operator_();
  const bool tool_is_attached = ranges_.toolIsAttached();
  if (tool_is_attached) [[unlikely]]
    ranges_.push(op.facts);
  const bool input_failed = errors_.live() != 0 && errors_.inherit(op);
  if (op.function && (!input_failed || runsDespiteErrors(op.operator_class))) {
    const cupti::OperatorScope launches(started == 0 ? 0 : op.correlation);
    const Status status = call(op, is_bulk);
    if (!status.has_value()) [[unlikely]]
      errors_.add(op, status.error());
  }
  op.function = {};
  if (tool_is_attached) [[unlikely]]
    ranges_.pop();
  if (started == 0) return;
  if (ready == 0) ready = started;
  const Ticks pushed = op.pushed == 0 ? ready : op.pushed;
  profiler_.operatorRun({pushed, ready, started, Profiler::now(), op.correlation, op.facts});
}

void OperatorRunner::runSegment(Operator& segment, OperatorCache& cache) {
  const Ticks started = profiler_.enter(bulk_site_);
  std::int64_t count = 0;
  for (Operator* op = segment.child; op != nullptr; ++count) {
    Operator* const next = op->next;
    run(*op, segment.ready, true);
    cache.give(*op);
    op = next;
  }
  segment.child = nullptr;
  if (started != 0) profiler_.leave(bulk_site_, started, count);
}

Status OperatorRunner::call(Operator& op, bool is_bulk) {
  try {
    return op.function(RunContext{op.device(), is_bulk});
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal,
                fmt::format("{} threw an exception: {}", describe(op.facts), error.what()));
  } catch (...) {
    return fail(ErrorCode::internal,
                fmt::format("{} threw an object that is not a std::exception", describe(op.facts)));
  }
}

std::string OperatorRunner::describe(OperatorId facts) const {
  if (!facts) return "an operator";
  const OperatorFacts known = profiler_.operatorFacts(facts);
  if (known.layer.empty()) return fmt::format("operator '{}'", known.name);
  return fmt::format("operator '{}' of layer '{}'", known.name, known.layer);
}

}  // namespace pitwall::engine
