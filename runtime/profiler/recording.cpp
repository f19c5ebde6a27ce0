// The longer records, which are not inline in runtime/profiler.h.
#include <algorithm>
#include <limits>

#include "runtime/profiler.h"
#include "runtime/profiler/state.h"

namespace pitwall {

void Arguments::add(SiteId key, std::string_view text) {
  if (count_ >= kMost) return;
  const std::size_t room = (kMost - count_ - 1) * ring::kTextPart;
  std::size_t length = std::min(text.size(), room);
  // Truncate between characters.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80)
    --length;
  put(key, ring::ArgumentType::text, length);
  for (std::size_t at = 0; at < length; at += ring::kTextPart) {
    ring::Record& part = records_[count_++];
    const std::size_t bytes = std::min(ring::kTextPart, length - at);
    part = {0, 0, 0, 0, ring::RecordKind::text, static_cast<std::uint8_t>(bytes), 0};
    std::memcpy(static_cast<void*>(&part), text.data() + at, bytes);
  }
}

namespace profiler {

void putWith(Ring* ring, const Record& record, CorrelationId correlation, const Arguments* arguments) {
  if (ring == nullptr) return;
  const std::uint64_t links = correlation == 0 ? 0 : 1;
  const std::uint64_t more = arguments == nullptr ? 0 : arguments->count_;
  if (!reserve(*ring, 1 + links + more, record.a + record.b)) return;
  slot(*ring, 0) = record;
  if (links != 0) slot(*ring, 1) = {correlation, 0, 0, 0, RecordKind::link, 0, 0};
  for (std::uint64_t i = 0; i < more; ++i) slot(*ring, 1 + links + i) = arguments->records_[i];
  publish(*ring, 1 + links + more);
}

}  // namespace profiler

profiler::Ring* Profiler::makeRing() { return state_->logs.forThisThread(); }

namespace profiler {
namespace {

void writeOperator(Ring& ring, const Profiler::OperatorRun& run, Ticks length, std::uint16_t depth) {
  write(slot(ring, 0),
        {run.started, length, run.correlation, run.op.value, RecordKind::operatorRun, run.device, depth});
  write(slot(ring, 1), {run.pushed, run.ready, 0, 0, RecordKind::operatorTimes, 0, 0});
}

}  // namespace
}  // namespace profiler

void Profiler::operatorRun(const OperatorRun& run) {
  if (!isRecording()) return;
  profiler::Ring* const own = ring();
  if (own == nullptr || !profiler::reserve(*own, 2, run.finished)) return;
  profiler::writeOperator(*own, run, run.finished - run.started, profiler::t_current.depth);
  profiler::publish(*own, 2);
}

std::uint16_t Profiler::takeDeviceTrack(std::uint8_t device) {
  if (!isRecording()) return 0;
  const std::uint16_t track = state_->device_tracks.take(device);
  profiler::orderClock();  // the operator that had the track before ended earlier
  return track;
}

void Profiler::giveDeviceTrack(std::uint8_t device, std::uint16_t track) {
  if (track != 0) state_->device_tracks.give(device, track);
}

void Profiler::operatorOpen(const OperatorRun& run, std::uint16_t track) {
  if (track == 0 || !isRecording()) return;
  profiler::Ring& its = state_->device_tracks.ring(run.device, track);
  if (!profiler::hasRoom(its, 2)) return;
  profiler::writeOperator(its, run, 0, 0);
  profiler::storePair(&its.scopes[0], run.started, ring::kOpenOperator);
  its.depth.store(1, std::memory_order_release);
}

void Profiler::operatorRun(const OperatorRun& run, std::uint16_t track) {
  if (track == 0) return operatorRun(run);
  if (isRecording()) {  // else the ring may be gone: in a forked child
    profiler::Ring& its = state_->device_tracks.ring(run.device, track);
    if (profiler::reserve(its, 2, run.finished)) {
      profiler::writeOperator(its, run, run.finished - run.started, 0);
      profiler::publish(its, 2);
    }
    its.depth.store(0, std::memory_order_release);
  }
  state_->device_tracks.give(run.device, track);
}

profiler::Ring* Profiler::trackRing(std::string_view name) {
  return state_->logs.forTrack(name, 0, std::numeric_limits<std::uint64_t>::max());
}

void Profiler::leaveOperator(OperatorId op, Ticks started) {
  const std::uint16_t depth = --profiler::t_current.depth;
  if (!isRecording()) return;
  const Ticks finished = now();
  profiler::Ring* const own = ring();
  if (own == nullptr) return;
  if (profiler::reserve(*own, 2, finished)) {
    profiler::write(profiler::slot(*own, 0),
                    {started, finished - started, 0, op.value, ring::RecordKind::operatorRun, 0, depth});
    profiler::write(profiler::slot(*own, 1),
                    {0, 0, 0, 0, ring::RecordKind::operatorTimes, ring::kAnnounced, 0});
    profiler::publish(*own, 2);
  }
  own->depth.store(depth, std::memory_order_release);
}

void Profiler::dependency(const Dependency& dependency) {
  if (!isRecording()) return;
  profiler::Ring* const own = ring();
  if (own == nullptr || !profiler::reserve(*own, 1, 0)) return;
  profiler::slot(*own, 0) = {dependency.source,
                             dependency.target,
                             0,
                             0,
                             ring::RecordKind::dependency,
                             static_cast<std::uint8_t>(dependency.kind),
                             0};
  profiler::publish(*own, 1);
}

void Profiler::iteration(std::int64_t index, std::int64_t items) {
  if (!isRecording()) return;
  put({now(), static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(items), 0,
       ring::RecordKind::iteration, 0, 0},
      0, nullptr);
}

}  // namespace pitwall
