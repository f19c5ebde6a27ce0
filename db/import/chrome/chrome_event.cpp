#include "db/import/chrome/chrome_event.h"

#include <array>

#include "db/import/chrome/event_parser.h"
#include "db/import/input/scan.h"
#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Arg::none)> kArgNames = {
    "memory bandwidth (GB/s)",
    "block",
    "blocks per SM",
    "bytes",
    "Collective name",
    "correlation",
    "device",
    "Device Id",
    "Device Type",
    "dtype",
    "External id",
    "Fwd thread id",
    "grid",
    "Process Group Ranks",
    "Group size",
    "In msg nelems",
    "Input Dims",
    "Input type",
    "name",
    "est. achieved occupancy %",
    "Out msg nelems",
    "Process Group Name",
    "registers per thread",
    "Sequence number",
    "shared memory",
    "start_time_since_epoch_in_micros",
    "stream",
    "cuda_sync_kind",
    "Total Allocated",
    "Total Reserved",
    "wait_on_stream",
    "warps per SM",
};
static_assert(!kArgNames.back().empty() && kArgNames.size() <= 64);

// Parses microseconds with up to three decimals, as nearly all times are written; false: another form.
bool plainMicroseconds(std::string_view text, std::int64_t& ns) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (text.size() > 15) {
    std::uint64_t eight = 0;
    if (text.size() > 19 || !eightDigits(at, eight)) return false;
    ns = static_cast<std::int64_t>(eight);
    at += 8;
  } else {
    ns = 0;
  }
  const char* const first = at;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) ns = ns * 10 + (*at - '0');
  if (at - first > 8 || text.front() == '.') return false;
  std::int64_t scale = 1000;
  if (at != end && *at == '.') {
    ++at;
    for (; at != end && *at >= '0' && *at <= '9' && scale > 1; ++at, scale /= 10) ns = ns * 10 + (*at - '0');
  }
  ns *= scale;
  return at == end;
}

std::optional<std::int64_t> microseconds(const JsonValue& value) {
  std::int64_t ns = 0;
  if (value.type == JsonType::number && plainMicroseconds(value.text, ns)) return ns;
  if (!value.isNumberOrString()) return std::nullopt;
  return parseScaled(value.text, 1000);
}

}  // namespace

Arg argOf(std::string_view name) {
  for (std::size_t i = 0; i < kArgNames.size(); ++i) {
    if (kArgNames[i] == name) return static_cast<Arg>(i);
  }
  return Arg::none;
}

void ChromeEvent::growArgs() {
  if (arg_count_ < kMostArgs) {
    args_.resize(arg_count_ == 0 ? 32 : arg_count_ * 2);
  } else {
    --arg_count_;  // the last element takes the excess
  }
}

JsonValue ChromeEvent::arg(std::string_view key) const {
  for (const ChromeArg& found : args()) {
    if (found.name == key) return found.value;
  }
  return {};
}

std::optional<std::int64_t> ChromeEvent::argInteger(Arg key) const {
  const JsonValue found = arg(key);
  if (!found.isNumberOrString()) return std::nullopt;
  return parseInteger(found.text);
}

std::optional<double> ChromeEvent::argReal(Arg key) const {
  const JsonValue found = arg(key);
  if (!found.isNumberOrString()) return std::nullopt;
  return parseReal(found.text);
}

std::optional<std::int64_t> ChromeEvent::timeNs() const { return microseconds(time); }
std::optional<std::int64_t> ChromeEvent::durationNs() const { return microseconds(duration); }

ParsedEvent parseEvent(std::string_view text, ChromeEvent& event) { return EventParser().parse(text, event); }

}  // namespace pitwall::import
