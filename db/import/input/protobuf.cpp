#include "db/import/input/protobuf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "db/try.h"

// https://protobuf.dev/programming-guides/encoding: a field is a tag (number, wire type) and a value.

namespace pitwall::import {
namespace {

constexpr std::size_t kLongestHeader = 20;  // tag and length

enum Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Header {
  std::uint32_t number = 0;
  std::uint32_t wire = 0;
  std::uint64_t value = 0;  // of kBytes their length
};

std::uint64_t fixed(std::string_view text, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

// Removes a field up to its bytes from `text`. False when it is none.
bool takeHeader(std::string_view& text, Header& header) {
  std::uint64_t tag = 0;
  if (!takeVarint(text, tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return false;
  header.number = static_cast<std::uint32_t>(tag >> 3);
  header.wire = static_cast<std::uint32_t>(tag & 7);
  if (header.wire == kVarint || header.wire == kBytes) return takeVarint(text, header.value);
  const std::size_t bytes = header.wire == kFixed64 ? 8 : header.wire == kFixed32 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return false;
  header.value = fixed(text, bytes);
  text.remove_prefix(bytes);
  return true;
}

}  // namespace

bool takeVarint(std::string_view& text, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < 10 && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      text.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool ProtoMessage::next(ProtoField& field) {
  if (rest_.empty() || damaged_) return false;
  std::string_view text = rest_;
  Header header;
  if (!takeHeader(text, header) || (header.wire == kBytes && header.value > text.size())) {
    damaged_ = true;
    return false;
  }
  field.number = header.number;
  field.is_bytes = header.wire == kBytes;
  field.value = header.value;
  field.bytes = {};
  if (field.is_bytes) {
    field.bytes = text.substr(0, static_cast<std::size_t>(header.value));
    text.remove_prefix(field.bytes.size());
  }
  rest_ = text;
  return true;
}

ProtoFile::~ProtoFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status ProtoFile::open(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) {
    return fail(errno == ENOENT ? ErrorCode::notFound : ErrorCode::io,
                fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  size_ = static_cast<std::uint64_t>(std::max<off_t>(0, about.st_size));
  return {};
}

Result<std::string_view> ProtoFile::bytes(Range range, std::size_t longest) {
  const std::uint64_t end = std::min(range.to, size_);
  if (range.from >= end) return std::string_view();
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(end - range.from, longest));
  if (range.from < buffer_at_ || range.from + wanted > buffer_at_ + filled_) {
    buffer_.resize(std::max(kBufferBytes, wanted));
    buffer_at_ = range.from;
    filled_ = 0;
    while (filled_ < wanted) {
      const ssize_t got = ::pread(descriptor_, buffer_.data() + filled_, buffer_.size() - filled_,
                                  static_cast<off_t>(buffer_at_ + filled_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return fail(ErrorCode::io, fmt::format("{}: reading failed at byte {}: {}", path_,
                                               buffer_at_ + filled_, std::strerror(errno)));
      }
      if (got == 0) break;  // shorter than it was
      filled_ += static_cast<std::size_t>(got);
    }
  }
  const std::size_t at = static_cast<std::size_t>(range.from - buffer_at_);
  return std::string_view(buffer_.data() + at, std::min(wanted, filled_ - std::min(filled_, at)));
}

Result<bool> ProtoFile::next(Range& rest, Field& field) {
  if (rest.from >= rest.to) return false;
  const std::string_view start = PITWALL_TRY(bytes(rest, kLongestHeader));
  std::string_view text = start;
  Header header;
  if (!takeHeader(text, header)) {
    if (damage_.empty()) damage_ = fmt::format("no field of a message at byte {}", rest.from);
    rest.from = rest.to;
    return false;
  }
  field.number = header.number;
  field.is_bytes = header.wire == kBytes;
  field.value = header.value;
  field.range = {rest.from + (start.size() - text.size()), 0};
  field.range.to = field.range.from;
  if (field.is_bytes) {
    if (header.value > rest.to - field.range.from) {
      if (damage_.empty())
        damage_ = fmt::format(
            "a part of {} bytes at byte {} ends behind what encloses it: the file is cut or damaged",
            header.value, rest.from);
      header.value = rest.to - field.range.from;
    }
    field.range.to += header.value;
  }
  rest.from = field.range.to;
  return true;
}

}  // namespace pitwall::import
