#include "db/import/perfetto/pftrace_start.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "db/import/input/protobuf.h"
#include "db/import/perfetto/pftrace_fields.h"

namespace pitwall::import {
namespace {

// Fields of a packet that are numbers; all others are texts or messages.
constexpr std::array<std::uint32_t, 9> kNumbers = {
    packet::kTimestamp, packet::kSequence,     packet::kSequenceFlags,
    packet::kUid,       packet::kStateCleared, packet::kPreviousDropped,
    packet::kClock,     packet::kTrustedPid,   packet::kFirstOnSequence};
constexpr std::uint32_t kLargestField = 5000;  // with the range for extensions

}  // namespace

// There is no magic number: every known field of the first packet must be of the type that it has in a packet,
// and another packet must follow.
bool isPftrace(std::string_view start) {
  if (!start.starts_with('\x0A')) return false;
  start.remove_prefix(1);
  std::uint64_t length = 0;
  if (!takeVarint(start, length) || length == 0) return false;
  const std::string_view first = start.substr(0, static_cast<std::size_t>(length));
  if (length < start.size() && start[first.size()] != '\x0A') return false;
  ProtoMessage fields(first);
  bool known = false;
  for (ProtoField field; fields.next(field);) {
    const bool number = std::find(kNumbers.begin(), kNumbers.end(), field.number) != kNumbers.end();
    const bool message = !packetName(field.number).empty();
    if (field.number > kLargestField || (number && field.is_bytes) || (message && !field.is_bytes))
      return false;
    known = known || number || message;
  }
  return known && (length > start.size() || !fields.damaged());
}

}  // namespace pitwall::import
