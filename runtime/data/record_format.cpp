#include "runtime/data/record_format.h"

namespace pitwall::data::record {

std::size_t findMagic(std::span<const std::uint8_t> bytes, std::size_t from) {
  for (std::size_t at = padded(from); at + 4 <= bytes.size(); at += 4)
    if (isHead(bytes.data() + at)) return at;
  return bytes.size();
}

Extent extentOf(std::span<const std::uint8_t> bytes) {
  std::size_t at = 0;
  for (;;) {
    if (bytes.size() < at + kHeadBytes) return {Outcome::incomplete, at + kHeadBytes};
    if (!isHead(bytes.data() + at))
      return {Outcome::damaged, 0, at == 0 ? "there is no record" : "a part of the record is missing"};
    const Head head = headAt(bytes.data() + at);
    const bool fits =
        at == 0 ? beginsRecord(head.kind) : head.kind == PartKind::middle || head.kind == PartKind::last;
    if (!fits)
      return {Outcome::damaged, 0,
              at == 0 ? "a part of a record without its start" : "its last part is missing"};
    const std::size_t end = at + kHeadBytes + padded(head.bytes);
    if (bytes.size() < end) return {Outcome::incomplete, end};
    if (head.kind == PartKind::whole || head.kind == PartKind::last)
      return {Outcome::complete, end, nullptr, head.kind == PartKind::last};
    at = end;
  }
}

std::span<const std::uint8_t> payloadOf(std::span<std::uint8_t> record) {
  std::uint8_t* const start = record.data() + kHeadBytes;
  std::uint8_t* to = start;
  for (std::size_t at = 0;;) {
    const Head head = headAt(record.data() + at);
    std::uint8_t* const from = record.data() + at + kHeadBytes;
    at += kHeadBytes + padded(head.bytes);
    if (to != from) std::memmove(to, from, head.bytes);
    to += head.bytes;
    if (head.kind == PartKind::whole || head.kind == PartKind::last)
      return {start, static_cast<std::size_t>(to - start)};
    std::memcpy(to, &kMagic, sizeof kMagic);  // never behind the next part's payload
    to += sizeof kMagic;
  }
}

}  // namespace pitwall::data::record
