#include "db/recovery/ring_file_reader.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "db/try.h"

namespace pitwall::recovery {

namespace {

// A text of an entry; false when it does not fit.
bool takeText(const char*& at, const char* end, std::string& into) {
  std::uint32_t length = 0;
  if (end - at < static_cast<std::ptrdiff_t>(sizeof length)) return false;
  std::memcpy(&length, at, sizeof length);
  at += sizeof length;
  if (end - at < static_cast<std::ptrdiff_t>(length)) return false;
  into.assign(at, length);
  at += length;
  return true;
}

}  // namespace

Result<std::unique_ptr<RingFileReader>> RingFileReader::open(int file, std::size_t size,
                                                             const std::string& path) {
  if (size < ring::kPage)
    return fail(ErrorCode::corruptTrace, fmt::format("'{}' is truncated: {} bytes; delete it", path, size));
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED)
    return fail(ErrorCode::io, fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  std::unique_ptr<RingFileReader> reader(new RingFileReader(static_cast<const char*>(memory), size));
  PITWALL_TRY(reader->checkHeader(path));
  reader->walkExtents();
  return reader;
}

RingFileReader::~RingFileReader() { munmap(const_cast<char*>(memory_), size_); }

Status RingFileReader::checkHeader(const std::string& path) const {
  const ring::FileHeader& h = header();
  if (std::memcmp(h.magic, ring::kMagic, sizeof h.magic) != 0)
    return fail(ErrorCode::corruptTrace,
                fmt::format("'{}' is not a ring file, or was never initialised; delete it", path));
  if (h.version < ring::kOldestVersion || h.version > ring::kVersion) {
    return fail(ErrorCode::versionMismatch,
                fmt::format("'{}' has ring format {}, this Pitwall reads {}; open the trace once with the "
                            "Pitwall that recorded it",
                            path, h.version, ring::kVersion));
  }
  if (h.header_bytes != ring::headerBytes(h.version) || h.check != ring::checkOf(h))
    return fail(ErrorCode::corruptTrace,
                fmt::format("'{}' is damaged: its header is inconsistent; delete it", path));
  return {};
}

void RingFileReader::walkExtents() {
  const std::uint64_t end = header().file_bytes.load(std::memory_order_acquire);
  cut_off_ = end > size_;
  const std::uint64_t last = std::min<std::uint64_t>(end, size_);
  for (std::uint64_t at = ring::kPage; at + ring::kPage <= last;) {
    const auto& extent = *reinterpret_cast<const ring::ExtentHeader*>(memory_ + at);
    const std::uint64_t bytes = extent.bytes;
    if (bytes < ring::kPage || bytes % ring::kPage != 0 || bytes > last - at) {
      cut_off_ = true;
      return;
    }
    if (extent.kind == ring::kNamesExtent) {
      readNames(reinterpret_cast<const ring::NamesHeader&>(extent));
    } else if (extent.kind == ring::kRingExtent) {
      const auto& found = reinterpret_cast<const ring::RingHeader&>(extent);
      const std::uint64_t room = (bytes - ring::kPage) / sizeof(ring::Record);
      if (found.in_use.load() != 0 && std::has_single_bit(found.capacity) && found.capacity <= room)
        rings_.push_back(&found);
    }
    at += bytes;
  }
}

void RingFileReader::readNames(const ring::NamesHeader& names) {
  const char* at = reinterpret_cast<const char*>(&names) + sizeof names;
  const std::uint64_t room = names.extent.bytes - sizeof names;
  const char* const end = at + std::min(room, names.used.load(std::memory_order_acquire));
  while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ring::NameEntry))) {
    ring::NameEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.bytes < sizeof entry || entry.bytes > static_cast<std::uint64_t>(end - at)) return;
    readName(entry, at + sizeof entry, at + entry.bytes);
    at += entry.bytes;
  }
}

void RingFileReader::readName(const ring::NameEntry& entry, const char* at, const char* end) {
  if (entry.what == ring::NameEntry::kSite) {
    ring::SiteFacts site;
    if (!takeText(at, end, site.name) || !takeText(at, end, site.args)) return;
    if (entry.number <= static_cast<std::uint32_t>(EventKind::communication))
      site.kind = static_cast<EventKind>(entry.number);
    sites_.insert_or_assign(entry.id, std::move(site));
  } else if (entry.what == ring::NameEntry::kOperator) {
    OperatorFacts facts;
    for (std::string* text :
         {&facts.name, &facts.layer, &facts.shapes, &facts.dtype, &facts.backend, &facts.implementation}) {
      if (!takeText(at, end, *text)) return;
    }
    if (entry.number <= static_cast<std::uint32_t>(Phase::data))
      facts.phase = static_cast<Phase>(entry.number);
    facts.flop = entry.flop;
    facts.bytes_read = entry.bytes_read;
    facts.bytes_written = entry.bytes_written;
    facts_.insert_or_assign(entry.id, std::move(facts));
  }
}

ring::ClockMap RingFileReader::clock() const {
  const ring::FileHeader& h = header();
  ring::ClockMap map(h.start, h.ticks_are_ns != 0);
  const std::uint64_t written = h.pairs_written.load(std::memory_order_acquire);
  const std::uint64_t room =
      ring::hasMorePairs(h.version) ? ring::FileHeader::kPairs : ring::FileHeader::kFirstPairs;
  // The oldest may have been about to be overwritten.
  const std::uint64_t kept = std::min(written, room - 1);
  for (std::uint64_t i = written - kept; i < written; ++i) map.add(h.pair(i % room));
  return map;
}

ring::SiteFacts RingFileReader::site(std::uint32_t id) const {
  const auto found = sites_.find(id);
  return found == sites_.end() ? ring::SiteFacts{"unnamed", EventKind::scope, ""} : found->second;
}

OperatorFacts RingFileReader::facts(std::uint32_t id) const {
  const auto found = facts_.find(id);
  return found == facts_.end() ? OperatorFacts{} : found->second;
}

}  // namespace pitwall::recovery
