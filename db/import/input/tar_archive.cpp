#include "db/import/input/tar_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "db/import/input/text.h"
#include "db/import/input/zip_archive.h"
#include "db/try.h"

// POSIX.1-2001, pax: blocks of 512 bytes; a header block, then the member's bytes, padded to whole blocks.

namespace pitwall::import {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kLongestExtra = std::uint64_t{1} << 20;  // of a long name or a pax header
constexpr std::uint64_t kLargestMember = std::uint64_t{1} << 60;

std::string_view field(std::string_view header, std::size_t at, std::size_t length) {
  const std::string_view text = header.substr(at, length);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

// Octal digits, or GNU's base 256 with the first bit set.
std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t value = 0;
  if (!text.empty() && (static_cast<unsigned char>(text[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (value > kLargestMember >> 8) return std::nullopt;
      value = value << 8 | (static_cast<unsigned char>(text[i]) & (i == 0 ? 0x7FU : 0xFFU));
    }
    return value;
  }
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '7') {
      if (value > kLargestMember >> 3) return std::nullopt;
      value = value << 3 | static_cast<std::uint64_t>(c - '0');
      digits = true;
    } else if (digits || (c != ' ' && c != '\0')) {
      break;
    }
  }
  return digits ? std::optional(value) : std::nullopt;
}

// The sum of the header's bytes, its own field counted as spaces.
bool hasRightSum(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? std::uint64_t{' '} : static_cast<unsigned char>(header[i]);
  return numberOf(header.substr(148, 8)) == sum;
}

class TarReader {
 public:
  TarReader(ByteSource& archive, const std::string& shown) : archive_(archive), shown_(shown) {}
  Result<std::vector<TarMember>> members();

 private:
  // Bytes read; fewer at the end of the archive.
  Result<std::size_t> read(char* into, std::size_t bytes);
  Result<std::uint64_t> skip(std::uint64_t bytes);
  Result<std::string> extra(std::uint64_t bytes);
  Status member(std::string_view header);
  void pax(std::string_view text);
  Status add(std::string_view header, std::uint64_t size);
  Status skipSparseMap(std::string_view header);
  void cut(std::string why);

  ByteSource& archive_;
  const std::string& shown_;
  std::vector<TarMember> members_;
  std::uint64_t position_ = 0;
  std::optional<std::string> next_name_;  // of a header before the member's own
  std::optional<std::uint64_t> next_size_;
  bool next_sparse_ = false;
  bool ended_ = false;
};

Result<std::size_t> TarReader::read(char* into, std::size_t bytes) {
  const std::size_t got = PITWALL_TRY(readFully(archive_, {into, bytes}));
  position_ += got;
  return got;
}

Result<std::uint64_t> TarReader::skip(std::uint64_t bytes) {
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 18)));
  std::uint64_t skipped = 0;
  while (skipped < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - skipped, buffer.size()));
    const std::size_t got = PITWALL_TRY(read(buffer.data(), wanted));
    skipped += got;
    if (got < wanted) break;
  }
  return skipped;
}

Result<std::string> TarReader::extra(std::uint64_t bytes) {
  std::string text(static_cast<std::size_t>(std::min(bytes, kLongestExtra)), '\0');
  const std::size_t got = PITWALL_TRY(read(text.data(), text.size()));
  text.resize(got);
  const std::uint64_t padded = (bytes + kBlock - 1) / kBlock * kBlock;
  if (padded > got) PITWALL_TRY(skip(padded - got));
  return text;
}

// Lines "LENGTH KEY=VALUE\n".
void TarReader::pax(std::string_view text) {
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const auto length = parseInteger(text.substr(0, space));
    if (space == std::string_view::npos || !length || *length <= static_cast<std::int64_t>(space) + 1 ||
        *length > static_cast<std::int64_t>(text.size()))
      return;
    std::string_view line = text.substr(space + 1, static_cast<std::size_t>(*length) - space - 1);
    if (line.ends_with('\n')) line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : line.substr(equals + 1);
    if (key == "path" || key == "GNU.sparse.name") next_name_ = std::string(value);
    next_sparse_ = next_sparse_ || key.starts_with("GNU.sparse.");
    if (const auto size = key == "size" ? parseInteger(value) : std::nullopt;
        size && *size >= 0 && static_cast<std::uint64_t>(*size) < kLargestMember)
      next_size_ = static_cast<std::uint64_t>(*size);
    text.remove_prefix(static_cast<std::size_t>(*length));
  }
}

// The rest of the archive is missing: the last member says so.
void TarReader::cut(std::string why) {
  ended_ = true;
  if (!members_.empty()) members_.back().damage = std::move(why);
}

Status TarReader::add(std::string_view header, std::uint64_t size) {
  if (members_.size() >= kMostZipMembers)
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: holds more than {} files; unpack it yourself", shown_, kMostZipMembers));
  const std::string_view folder = header[156] == 'S' ? "" : field(header, 345, 155);
  const std::string name =
      next_name_ ? *next_name_
                 : fmt::format("{}{}{}", folder, folder.empty() ? "" : "/", field(header, 0, 100));
  TarMember fresh{{}, position_, size};
  appendClean(name, fresh.name);
  if (next_sparse_ || header[156] == 'S')
    fresh.refusal = "is stored without its holes (tar --sparse): unpack the archive and name the files";
  members_.push_back(std::move(fresh));
  return {};
}

// Of GNU's older format: blocks between the header and the content, each of which says whether one more follows.
Status TarReader::skipSparseMap(std::string_view header) {
  std::array<char, kBlock> block{};
  for (bool more = header[482] != 0; more; more = block[504] != 0) {
    const std::size_t got = PITWALL_TRY(read(block.data(), block.size()));
    if (got < kBlock) return {};
  }
  return {};
}

Status TarReader::member(std::string_view header) {
  const auto stated = numberOf(header.substr(124, 12));
  if (!hasRightSum(header) || !stated) {
    if (members_.empty())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: a damaged tar archive: no header at byte {}", shown_, position_ - kBlock));
    cut(fmt::format("the archive is damaged behind it, at byte {}", position_ - kBlock));
    return {};
  }
  const char type = header[156];
  if (type == 'L' || type == 'x') {
    const std::string text = PITWALL_TRY(extra(*stated));
    if (type == 'x') {
      pax(text);
    } else {
      next_name_ = text.substr(0, text.find('\0'));
    }
    return {};
  }
  const std::uint64_t size = next_size_.value_or(*stated);
  const bool regular = type == '0' || type == '\0' || type == '7' || type == 'S';
  if (regular) PITWALL_TRY(add(header, size));
  if (type == 'S') PITWALL_TRY(skipSparseMap(header));
  next_name_.reset();
  next_size_.reset();
  next_sparse_ = false;
  const std::uint64_t skipped = PITWALL_TRY(skip(size));
  if (skipped < size) {
    cut(regular ? fmt::format("the archive ends {} bytes before the member's end", size - skipped)
                : "the archive ends within an entry behind it that is no file");
    return {};
  }
  PITWALL_TRY(skip((kBlock - size % kBlock) % kBlock));
  return {};
}

Result<std::vector<TarMember>> TarReader::members() {
  std::array<char, kBlock> block{};
  while (!ended_) {
    const std::size_t got = PITWALL_TRY(read(block.data(), block.size()));
    const std::string_view header(block.data(), got);
    if (got < kBlock) {
      cut("the archive ends without its end mark: files behind this one may be missing");
      break;
    }
    if (header.find_first_not_of('\0') == std::string_view::npos)
      break;  // two blocks of zeros end an archive
    PITWALL_TRY(member(header));
  }
  return std::move(members_);
}

}  // namespace

bool isTar(std::string_view start) {
  return start.size() >= kBlock && start.substr(257, 5) == "ustar" && hasRightSum(start.substr(0, kBlock));
}

Result<std::vector<TarMember>> tarMembers(ByteSource& archive, const std::string& shown) {
  return TarReader(archive, shown).members();
}

}  // namespace pitwall::import
