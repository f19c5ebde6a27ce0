#include "db/import/input/zip_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "db/import/input/text.h"
#include "db/try.h"

// APPNOTE.TXT of PKWARE, section 4.3: [local header, data]... [central directory] [its end record].

namespace pitwall::import {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::uint64_t kLongestDirectory = std::uint64_t{16} << 20;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::size_t kZipReadBytes = std::size_t{256} << 10;
constexpr Bytes kZipRatioFreeBytes = Bytes{64} << 20;

// Little-endian numbers; the caller has checked that they are within the data.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t value = 0;
  for (std::size_t i = length; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}
std::uint16_t number16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number(bytes, at, 2));
}
std::uint32_t number32(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(number(bytes, at, 4));
}

class Archive {
 public:
  Archive() = default;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Status open(const std::string& path) {
    path_ = path;
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0)
      return fail(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    size_ = static_cast<std::uint64_t>(about.st_size);
    return {};
  }

  // At most `length` bytes from there; fewer at the end of the file.
  Result<std::string> at(std::uint64_t offset, std::size_t length) const {
    std::string out(
        static_cast<std::size_t>(std::min<std::uint64_t>(length, offset < size_ ? size_ - offset : 0)), '\0');
    auto got = PITWALL_TRY(read(offset, {out.data(), out.size()}));
    out.resize(got);
    return out;
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<char> into) const {
    std::size_t given = 0;
    while (given < into.size()) {
      const ssize_t got =
          ::pread(descriptor_, into.data() + given, into.size() - given, static_cast<off_t>(offset + given));
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return fail(ErrorCode::io, fmt::format("{}: reading failed at byte {}: {}", path_, offset + given,
                                               std::strerror(errno)));
      }
      given += static_cast<std::size_t>(got);
    }
    return given;
  }

  Failure wrong(std::string_view why) const {
    return fail(ErrorCode::invalidInput, fmt::format("{}: a zip archive, but {}", path_, why));
  }

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

struct Directory {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};

// The position of the directory, from the record at the archive's end, which a comment of up to 64 KiB may
// follow.
Result<std::optional<Directory>> findDirectory(const Archive& archive) {
  const std::size_t tail_bytes = kEndBytes + 0xFFFF + 20;
  const std::uint64_t tail_at = archive.size() > tail_bytes ? archive.size() - tail_bytes : 0;
  auto tail = PITWALL_TRY(archive.at(tail_at, tail_bytes));
  if (tail.size() < kEndBytes) return std::optional<Directory>();
  for (std::size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (number32(tail, at) != kEnd) continue;
    Directory found{number32(tail, at + 16), number32(tail, at + 12)};
    if (at >= 20 && number32(tail, at - 20) == kEnd64Locator) {
      auto record = PITWALL_TRY(archive.at(number(tail, at - 12, 8), 56));
      if (record.size() == 56 && number32(record, 0) == kEnd64)
        found = {number(record, 48, 8), number(record, 40, 8)};
    }
    return std::optional<Directory>(found);
  }
  return std::optional<Directory>();
}

// Sizes and offsets beyond 4 GiB are in an extra field, which has only those that are 0xFFFFFFFF elsewhere.
void readZip64(std::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const std::size_t length = std::min<std::size_t>(number16(extra, 2), extra.size() - 4);
    if (number16(extra, 0) == 1) {
      std::string_view wide = extra.substr(4, length);
      for (std::uint64_t* field : {&member.plain_bytes, &member.packed_bytes, &member.header_at}) {
        if (*field != 0xFFFFFFFF || wide.size() < 8) continue;
        *field = number(wide, 0, 8);
        wide.remove_prefix(8);
      }
      return;
    }
    extra.remove_prefix(4 + length);
  }
}

Result<std::vector<ZipMember>> readDirectory(const Archive& archive, const Directory& directory) {
  if (directory.bytes > kLongestDirectory || directory.at > archive.size() ||
      directory.bytes > archive.size() - directory.at) {
    return archive.wrong(fmt::format("its directory ({} bytes at byte {}) is not within the file",
                                     directory.bytes, directory.at));
  }
  auto text = PITWALL_TRY(archive.at(directory.at, static_cast<std::size_t>(directory.bytes)));
  std::string_view rest = text;
  std::vector<ZipMember> members;
  while (rest.size() >= kCentralBytes && number32(rest, 0) == kCentral) {
    const std::size_t name_bytes = number16(rest, 28);
    const std::size_t extra_bytes = number16(rest, 30);
    const std::size_t whole = kCentralBytes + name_bytes + extra_bytes + number16(rest, 32);
    if (whole > rest.size()) return archive.wrong("its directory is damaged");
    ZipMember member;
    appendClean(rest.substr(kCentralBytes, name_bytes), member.name);
    member.method = number16(rest, 10);
    if ((number16(rest, 8) & 1) != 0) member.method = 99;  // encrypted
    member.crc = number32(rest, 16);
    member.packed_bytes = number32(rest, 20);
    member.plain_bytes = number32(rest, 24);
    member.header_at = number32(rest, 42);
    readZip64(rest.substr(kCentralBytes + name_bytes, extra_bytes), member);
    rest.remove_prefix(whole);
    if (member.name.empty() || member.name.back() == '/') continue;
    if (members.size() == kMostZipMembers)
      return archive.wrong(fmt::format("it holds more than {} files; unpack it yourself", kMostZipMembers));
    members.push_back(std::move(member));
  }
  if (members.empty()) return archive.wrong("there is no file in it");
  return members;
}

class ZipSource final : public ByteSource {
 public:
  ZipSource(std::unique_ptr<Archive> archive, const ZipMember& member, std::uint64_t data_at,
            const ImportLimits& limits)
      : archive_(std::move(archive)),
        member_(member),
        data_at_(data_at),
        limits_(limits),
        input_(kZipReadBytes) {
    left_ = member.known_size ? member.packed_bytes : archive_->size() - data_at;
    crc_ = static_cast<std::uint32_t>(crc32(0, nullptr, 0));
  }
  ~ZipSource() override {
    if (started_) inflateEnd(&stream_);
  }

  const char* compression() const override { return "zip"; }
  const std::string& damage() const override { return damage_; }
  Bytes fileBytes() const override {
    return static_cast<Bytes>(member_.known_size ? member_.packed_bytes : archive_->size());
  }
  Bytes consumedBytes() const override { return static_cast<Bytes>(consumed_ - (filled_ - used_)); }

  Result<std::size_t> read(std::span<char> into) override {
    if (!started_ && member_.method == kDeflated) {
      if (inflateInit2(&stream_, -15) != Z_OK) return fail(ErrorCode::io, "zlib: out of memory");
      started_ = true;
    }
    std::size_t given = 0;
    while (given < into.size() && !ended_) {
      if (used_ == filled_) {
        PITWALL_TRY(refill());
        if (ended_) break;
      }
      given += member_.method == kStored ? copySome(into.subspan(given)) : inflateSome(into.subspan(given));
    }
    crc_ = static_cast<std::uint32_t>(crc32_z(crc_, reinterpret_cast<const Bytef*>(into.data()), given));
    produced_ += static_cast<Bytes>(given);
    if (ended_ && member_.known_size && damage_.empty() && crc_ != member_.crc)
      damage_ = "compressed data: the check sum of the member is wrong";
    PITWALL_TRY(bounded());
    return given;
  }

 private:
  Status refill() {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size()));
    auto got = PITWALL_TRY(archive_->read(data_at_ + consumed_, {input_.data(), wanted}));
    used_ = 0;
    filled_ = got;
    consumed_ += got;
    left_ -= got;
    if (got > 0) return {};
    ended_ = true;
    const bool whole = member_.method == kStored && member_.known_size && left_ == 0;
    if (!whole) damage_ = "compressed data: the archive ends inside a member";
    return {};
  }

  std::size_t copySome(std::span<char> into) {
    const std::size_t length = std::min(into.size(), filled_ - used_);
    std::memcpy(into.data(), input_.data() + used_, length);
    used_ += length;
    return length;
  }

  std::size_t inflateSome(std::span<char> into) {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + used_);
    stream_.avail_in = static_cast<unsigned>(filled_ - used_);
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<unsigned>(std::min<std::size_t>(into.size(), 1U << 30));
    const unsigned wanted = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    used_ = filled_ - stream_.avail_in;
    if (code == Z_STREAM_END) {
      ended_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      damage_ = fmt::format("compressed data: {} at byte {} of the file",
                            stream_.msg != nullptr ? stream_.msg : "not a valid stream",
                            data_at_ + consumed_ - stream_.avail_in);
      ended_ = true;
    }
    return wanted - stream_.avail_out;
  }

  Status bounded() const {
    const Bytes consumed = std::max<Bytes>(1, consumedBytes());
    if (produced_ <= limits_.decompressed_bytes &&
        (produced_ <= kZipRatioFreeBytes || produced_ / consumed <= limits_.decompression_ratio)) {
      return {};
    }
    return fail(
        ErrorCode::invalidInput,
        fmt::format("{}: {} decompresses to more than {} bytes or {} times its size, unlike any trace; "
                    "unpack it yourself to import it",
                    archive_->path(), member_.name, limits_.decompressed_bytes, limits_.decompression_ratio));
  }

  std::unique_ptr<Archive> archive_;
  const ZipMember member_;
  const std::uint64_t data_at_;
  const ImportLimits limits_;
  std::vector<char> input_;
  z_stream stream_{};
  std::string damage_;
  std::uint64_t left_ = 0;
  std::uint64_t consumed_ = 0;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  Bytes produced_ = 0;
  std::uint32_t crc_ = 0;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace

Result<std::vector<ZipMember>> zipMembers(const std::string& path) {
  Archive archive;
  PITWALL_TRY(archive.open(path));
  auto directory = PITWALL_TRY(findDirectory(archive));
  if (directory) return readDirectory(archive, *directory);
  auto head = PITWALL_TRY(archive.at(0, kLocalBytes + 0xFFFF));
  if (head.size() < kLocalBytes || number32(head, 0) != kLocal)
    return archive.wrong("it has neither a directory nor a first member");
  ZipMember member;
  appendClean(std::string_view(head).substr(kLocalBytes, number16(head, 26)), member.name);
  member.method = (number16(head, 6) & 1) != 0 ? std::uint16_t{99} : number16(head, 8);
  member.known_size = false;
  return std::vector<ZipMember>{member};
}

Result<std::unique_ptr<ByteSource>> openZipMember(const std::string& path, const ZipMember& member,
                                                  const ImportLimits& limits) {
  auto archive = std::make_unique<Archive>();
  PITWALL_TRY(archive->open(path));
  if (member.method != kStored && member.method != kDeflated) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: {} is {}; unpack it yourself", path, member.name,
                            member.method == 99 ? std::string("encrypted")
                                                : fmt::format("packed with method {}", member.method)));
  }
  auto head = PITWALL_TRY(archive->at(member.header_at, kLocalBytes));
  if (head.size() < kLocalBytes || number32(head, 0) != kLocal)
    return archive->wrong(fmt::format("no member begins at byte {}", member.header_at));
  const std::uint64_t data_at = member.header_at + kLocalBytes + number16(head, 26) + number16(head, 28);
  if (data_at > archive->size() || (member.known_size && member.packed_bytes > archive->size() - data_at))
    return archive->wrong(fmt::format("its member {} is not within the file", member.name));
  return {std::make_unique<ZipSource>(std::move(archive), member, data_at, limits)};
}

}  // namespace pitwall::import
