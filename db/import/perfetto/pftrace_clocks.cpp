#include "db/import/perfetto/pftrace_clocks.h"

#include <vector>

#include "db/import/input/protobuf.h"
#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

struct Reading {
  std::uint64_t clock = 0;
  std::uint64_t timestamp = 0;
  std::uint64_t multiplier = 1;
  bool incremental = false;
};

// None when it is too far for differences.
std::optional<std::int64_t> scaled(std::uint64_t timestamp, std::uint64_t multiplier) {
  constexpr auto kFar = static_cast<std::uint64_t>(kLatestNs) / 2;
  if (multiplier == 0 || timestamp > kFar / multiplier) return std::nullopt;
  return static_cast<std::int64_t>(timestamp * multiplier);
}

Reading reading(std::string_view message) {
  Reading out;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.is_bytes) continue;
    if (field.number == 1) out.clock = field.value;
    if (field.number == 2) out.timestamp = field.value;
    if (field.number == 3) out.incremental = field.value != 0;
    if (field.number == 4 && field.value > 0) out.multiplier = field.value;
  }
  return out;
}

}  // namespace

std::uint64_t PftraceClocks::keyOf(std::uint64_t clock, std::uint64_t sequence) {
  return clock >= 64 && clock < 128 ? (sequence << 8 | clock) : clock;
}

void PftraceClocks::snapshot(std::string_view message, std::uint64_t sequence) {
  std::vector<Reading> readings;
  std::uint64_t primary = 0;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field) && readings.size() < 1024;) {
    if (field.number == 1 && field.is_bytes) readings.push_back(reading(field.bytes));
    if (field.number == 2 && !field.is_bytes) primary = field.value;
  }
  const auto timeOf = [&](std::uint64_t clock) -> std::optional<std::int64_t> {
    for (const Reading& candidate : readings) {
      if (candidate.clock == clock) return scaled(candidate.timestamp, candidate.multiplier);
    }
    return std::nullopt;
  };
  if (!has_reference_) {
    for (const std::uint64_t clock : {primary, kBoottime, kMonotonic, kRealtime}) {
      if (clock == 0 || !timeOf(clock)) continue;
      reference_ = clock;
      has_reference_ = true;
      break;
    }
  }
  const auto now = timeOf(reference_);
  if (!now) return;
  for (const Reading& of : readings) {
    const auto its_time = scaled(of.timestamp, of.multiplier);
    const std::uint64_t key = keyOf(of.clock, sequence);
    if (!its_time || (clocks_.size() >= kMost && clocks_.find(key) == clocks_.end())) continue;
    clocks_[key] = {*now - *its_time, *its_time, of.multiplier, of.incremental};
    if (of.clock == kRealtime && !unix_zero_) unix_zero_ = *its_time - *now;
  }
}

std::optional<std::int64_t> PftraceClocks::time(std::uint64_t clock, std::uint64_t sequence,
                                                std::uint64_t timestamp) {
  if (clock == 0) clock = reference_;
  const auto found = clocks_.find(keyOf(clock, sequence));
  if (found == clocks_.end()) {
    if (clock != reference_) return std::nullopt;
    return scaled(timestamp, 1);
  }
  Clock& known = found->second;
  const auto its_time = scaled(timestamp, known.multiplier);
  if (!its_time) return std::nullopt;
  if (!known.incremental) return *its_time + known.offset_ns;
  if (known.last_ns > kLatestNs / 2) return std::nullopt;
  known.last_ns += *its_time;
  return known.last_ns + known.offset_ns;
}

}  // namespace pitwall::import
