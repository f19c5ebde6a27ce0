#include "runtime/engine/operator_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/profiler/cupti/operator_scope.h"

namespace pitwall::engine {
namespace {

bool runsDespiteErrors(OperatorClass operator_class) {
  return operator_class == OperatorClass::noSkip || operator_class == OperatorClass::deletion;
}

// Calls `function`; an exception becomes an error that names the operator.
template <class Function, class Describe>
Status withoutExceptions(Function function, Describe describe) {
  try {
    return function();
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, fmt::format("{} threw an exception: {}", describe(), error.what()));
  } catch (...) {
    return fail(ErrorCode::internal,
                fmt::format("{} threw an object that is not a std::exception", describe()));
  }
}

OperatorId registerDeletion(Profiler& profiler) {
  OperatorFacts facts;
  facts.name = "DeleteVariable";
  return profiler.operatorFacts(facts);
}

Profiler::OperatorRun runOf(const Operator& op, Ticks ready, Ticks started, Ticks finished) {
  if (ready == 0) ready = started;
  const Ticks pushed = op.pushed == 0 ? ready : op.pushed;
  return {pushed, ready, started, finished, op.correlation, op.facts, ringDevice(op.device())};
}

}  // namespace

std::uint8_t ringDevice(Device device) {
  static_assert(kMaxDevices == ring::kDevicesOfKind);
  return static_cast<std::uint8_t>(static_cast<int>(device.kind) * kMaxDevices + device.index);
}

OperatorRunner::OperatorRunner(Profiler& profiler, const EngineOptions& options)
    : profiler_(profiler),
      bulk_site_(profiler.site("bulk", EventKind::bulk)),
      deletion_facts_(registerDeletion(profiler)),
      before_gpu_operator_(options.before_gpu_operator),
      streams_(options.streams),
      ranges_(profiler) {}

void OperatorRunner::run(Operator& op, Ticks ready, bool is_bulk) {
  const Ticks started = profiler_.isRecording() ? Profiler::now() : 0;
  if (op.device_kind == DeviceKind::gpu && started != 0 && before_gpu_operator_) [[unlikely]]
    before_gpu_operator_();
  const bool tool_is_attached = ranges_.toolIsAttached();
  if (tool_is_attached) [[unlikely]]
    ranges_.push(op.facts);
  callUnlessFailed(op, started, is_bulk);
  op.function = {};
  if (tool_is_attached) [[unlikely]]
    ranges_.pop();
  if (started != 0) profiler_.operatorRun(runOf(op, ready, started, Profiler::now()));
}

inline void OperatorRunner::callUnlessFailed(Operator& op, Ticks started, bool is_bulk) {
  const bool input_failed = errors_.live() != 0 && errors_.inherit(op);
  if (!op.function || (input_failed && !runsDespiteErrors(op.operator_class))) return;
  const cupti::OperatorScope launches(started == 0 ? 0 : op.correlation);
  const Status status = call(op, is_bulk);
  if (!status.has_value()) [[unlikely]]
    errors_.add(op, status.error());
}

void OperatorRunner::runOnStream(Operator& op, OperatorCache& cache) {
  if (op.kind == NodeKind::segment) {
    op.started = 0;  // its operators are recorded
    return runSegment(op, cache);
  }
  op.started = profiler_.isRecording() ? Profiler::now() : 0;
  if (op.started != 0 && before_gpu_operator_) before_gpu_operator_();
  const bool tool_is_attached = ranges_.toolIsAttached();
  if (tool_is_attached) ranges_.push(op.facts);
  callUnlessFailed(op, op.started, false);
  if (tool_is_attached) ranges_.pop();
}

void OperatorRunner::recordOnStream(const Operator& op, void* stream, Ticks ended) {
  const ScopedLock guard(streams_mutex_);
  StreamRecord& record = recorded_streams_[stream];
  const Ticks before = std::exchange(record.ended, ended);
  if (op.started == 0) return;
  const std::uint8_t device = ringDevice(op.device());
  if (record.track == 0) record.track = profiler_.takeDeviceTrack(device);
  profiler_.operatorRun(runOf(op, op.ready, std::max(op.started, before), ended), record.track);
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
  return withoutExceptions(
      [&] {
        return op.function(RunContext{op.device(), is_bulk});
      },
      [&] { return describe(op.facts); });
}

// An operator whose function runs on this thread. If the function throws, the Completion that it was given is
// destroyed uncalled first; the exception is the error to report.
struct OperatorRunner::Starting {
  const Operator* op;
  Starting* outer;
  bool dropped = false;
};

constinit thread_local OperatorRunner::Starting* OperatorRunner::starting_ = nullptr;

bool OperatorRunner::start(Operator& op, CompletionReceiver& receiver) {
  op.track = profiler_.takeDeviceTrack(ringDevice(op.device()));
  op.started = profiler_.isRecording() ? Profiler::now() : 0;
  if (op.device_kind == DeviceKind::gpu && op.started != 0 && before_gpu_operator_) before_gpu_operator_();
  const bool tool_is_attached = ranges_.toolIsAttached();
  if (tool_is_attached) ranges_.push(op.facts);
  const bool input_failed = errors_.live() != 0 && errors_.inherit(op);
  const bool skipped = input_failed && !runsDespiteErrors(op.operator_class);
  op.waiting.store(skipped ? 1 : 2, std::memory_order_relaxed);
  if (!skipped) {
    const cupti::OperatorScope launches(op.started == 0 ? 0 : op.correlation);
    callStart(op, receiver);
  }
  if (tool_is_attached) ranges_.pop();
  if (op.track != 0) open(op);
  return arrive(op);
}

// The function has returned. An operator that has completed by now has run on this thread all the time.
void OperatorRunner::open(Operator& op) {
  if (op.waiting.load(std::memory_order_acquire) == 2 && op.started != 0)
    return profiler_.operatorOpen(runOf(op, op.ready, op.started, 0), op.track);
  profiler_.giveDeviceTrack(ringDevice(op.device()), std::exchange(op.track, std::uint16_t{0}));
}

// Work of an operator that failed may be on the stream too: its end is awaited alike.
void OperatorRunner::startOnGpu(Operator& op, CompletionReceiver& receiver) {
  const Status status = call(op, false);
  if (!status.has_value()) errors_.add(op, status.error());
  (void)streams_->finish(op.device(), Completion(op, receiver));
}

void OperatorRunner::callStart(Operator& op, CompletionReceiver& receiver) {
  if (!op.function.completesLater()) return startOnGpu(op, receiver);
  Starting starting{&op, starting_};
  starting_ = &starting;
  Status status = withoutExceptions(
      [&]() -> Status {
        op.function.start(RunContext{op.device(), false}, Completion(op, receiver));
        return {};
      },
      [&] { return describe(op.facts); });
  starting_ = starting.outer;
  if (starting.dropped && status.has_value()) status = droppedError(op);
  if (!status.has_value()) errors_.add(op, status.error());
  if (starting.dropped) (void)arrive(op);  // in the place of the completion; start() arrives last
}

void OperatorRunner::finish(Operator& op, Ticks ended) {
  op.function = {};
  if (op.started != 0) profiler_.operatorRun(runOf(op, op.ready, op.started, ended), op.track);
}

bool OperatorRunner::failDropped(Operator& op) {
  for (Starting* starting = starting_; starting != nullptr; starting = starting->outer) {
    if (starting->op != &op) continue;
    starting->dropped = true;
    return false;
  }
  errors_.add(op, droppedError(op).error());
  return true;
}

Status OperatorRunner::droppedError(const Operator& op) const {
  return fail(ErrorCode::internal,
              fmt::format("{} was never completed: its Completion was destroyed without a call; call it once "
                          "with the operator's Status",
                          describe(op.facts)));
}

std::string OperatorRunner::describe(OperatorId facts) const {
  if (!facts) return "an operator";
  const OperatorFacts known = profiler_.operatorFacts(facts);
  if (known.layer.empty()) return fmt::format("operator '{}'", known.name);
  return fmt::format("operator '{}' of layer '{}'", known.name, known.layer);
}

}  // namespace pitwall::engine
