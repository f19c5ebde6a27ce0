#include "db/import/input/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "db/file_magic.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr Bytes kRatioFreeBytes = Bytes{64} << 20;

// A file descriptor with its position and size.
class RawFile {
 public:
  RawFile() = default;
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Status open(const std::string& path) {
    path_ = path;
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) {
      if (errno == ENOENT) return fail(ErrorCode::notFound, fmt::format("{}: no such file", path));
      return fail(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    }
    struct stat about {};
    if (::fstat(descriptor_, &about) != 0) {
      return fail(ErrorCode::io, fmt::format("{}: cannot be examined: {}", path, std::strerror(errno)));
    }
    if (S_ISDIR(about.st_mode)) {
      return fail(ErrorCode::invalidInput, fmt::format("{}: is a folder; name a trace file in it", path));
    }
    size_ = static_cast<Bytes>(about.st_size);
    return {};
  }

  Result<std::size_t> read(std::span<char> into) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into.data(), into.size());
      if (got >= 0) {
        position_ += got;
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return fail(ErrorCode::io,
                    fmt::format("{}: reading failed at byte {}: {}", path_, position_, std::strerror(errno)));
      }
    }
  }

  Status rewind() { return seek(0); }
  Status seek(std::uint64_t to) {
    if (::lseek(descriptor_, static_cast<off_t>(to), SEEK_SET) != static_cast<off_t>(to)) {
      return fail(ErrorCode::io, fmt::format("{}: is not a plain file (a pipe?); save it first", path_));
    }
    position_ = static_cast<Bytes>(to);
    return {};
  }

  const std::string& path() const { return path_; }
  Bytes size() const { return size_; }
  Bytes position() const { return position_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  Bytes size_ = 0;
  Bytes position_ = 0;
};

class FileSource : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}
  const std::string& damage() const override { return damage_; }
  Bytes fileBytes() const override { return file_->size(); }
  Bytes consumedBytes() const override { return file_->position(); }

 protected:
  std::unique_ptr<RawFile> file_;
  std::string damage_;
};

class PlainSource final : public FileSource {
 public:
  using FileSource::FileSource;
  Result<std::size_t> read(std::span<char> into) override { return file_->read(into); }
  const char* compression() const override { return "none"; }
};

// A member of an archive, within its file.
class PartSource final : public FileSource {
 public:
  PartSource(std::unique_ptr<RawFile> file, std::uint64_t bytes, std::string damage)
      : FileSource(std::move(file)), bytes_(static_cast<Bytes>(bytes)), left_(bytes) {
    damage_ = std::move(damage);
  }
  const char* compression() const override { return "tar"; }
  // Of the member, not of the archive around it.
  Bytes fileBytes() const override { return bytes_; }
  Bytes consumedBytes() const override { return bytes_ - static_cast<Bytes>(left_); }

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, into.size()));
    if (wanted == 0) return std::size_t{0};
    const std::size_t got = PITWALL_TRY(file_->read(into.first(wanted)));
    left_ = got == 0 ? 0 : left_ - got;
    return got;
  }

 private:
  const Bytes bytes_;
  std::uint64_t left_;
};

// Common to gzip, zstd and xz: the compressed buffer and the limits on growth.
class CompressedSource : public FileSource {
 public:
  CompressedSource(std::unique_ptr<RawFile> file, const ImportLimits& limits)
      : FileSource(std::move(file)), limits_(limits), input_(kReadBytes) {}

 protected:
  // True when there is compressed data to work on.
  Result<bool> refill() {
    if (used_ < filled_) return true;
    auto got = PITWALL_TRY(file_->read(input_));
    used_ = 0;
    filled_ = got;
    return filled_ > 0;
  }

  Status grown(std::size_t bytes) {
    produced_ += static_cast<Bytes>(bytes);
    return checkGrowth(file_->path(), produced_, file_->position() - static_cast<Bytes>(filled_ - used_),
                       limits_);
  }

  void damaged(std::string_view why) {
    if (damage_.empty()) {
      damage_ = fmt::format("compressed data: {} at byte {} of the file", why,
                            file_->position() - static_cast<Bytes>(filled_ - used_));
    }
    ended_ = true;
  }

  const ImportLimits limits_;
  std::vector<char> input_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  Bytes produced_ = 0;
  bool ended_ = false;
};

class GzipSource final : public CompressedSource {
 public:
  using CompressedSource::CompressedSource;
  ~GzipSource() override {
    if (started_) inflateEnd(&stream_);
  }
  const char* compression() const override { return "gzip"; }

  Result<std::size_t> read(std::span<char> into) override {
    if (!started_) {
      if (inflateInit2(&stream_, 15 + 16) != Z_OK) return fail(ErrorCode::io, "zlib: out of memory");
      started_ = true;
    }
    const std::size_t wanted = std::min<std::size_t>(into.size(), std::numeric_limits<unsigned>::max() / 2);
    std::size_t given = 0;
    while (given < wanted && !ended_) {
      auto more = PITWALL_TRY(refill());
      if (!more) {
        if (!between_members_) damaged("the file ends inside a gzip stream");
        ended_ = true;
        break;
      }
      given += inflateSome(into.subspan(given, wanted - given));
    }
    PITWALL_TRY(grown(given));
    return given;
  }

 private:
  std::size_t inflateSome(std::span<char> into) {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + used_);
    stream_.avail_in = static_cast<unsigned>(filled_ - used_);
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<unsigned>(into.size());
    if (between_members_ && !first_member_ && input_[used_] == '\0') {  // padding after the last member
      used_ = filled_;
      return 0;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    used_ = filled_ - stream_.avail_in;
    const std::size_t given = into.size() - stream_.avail_out;
    between_members_ = false;
    first_member_ = false;
    if (code == Z_STREAM_END) {
      between_members_ = true;
      inflateReset(&stream_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      damaged(stream_.msg != nullptr ? stream_.msg : "not a valid gzip stream");
    }
    return given;
  }

  z_stream stream_{};
  bool started_ = false;
  bool between_members_ = true;
  bool first_member_ = true;
};

class ZstdSource final : public CompressedSource {
 public:
  ZstdSource(std::unique_ptr<RawFile> file, const ImportLimits& limits)
      : CompressedSource(std::move(file), limits), stream_(ZSTD_createDStream()) {
    if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 27);  // 128 MiB
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  const char* compression() const override { return "zstd"; }

  Result<std::size_t> read(std::span<char> into) override {
    if (stream_ == nullptr) return fail(ErrorCode::io, "zstd: out of memory");
    std::size_t given = 0;
    while (given < into.size() && !ended_) {
      auto more = PITWALL_TRY(refill());
      if (!more) {
        if (inside_frame_) damaged("the file ends inside a zstd frame");
        ended_ = true;
        break;
      }
      ZSTD_inBuffer in{input_.data(), filled_, used_};
      ZSTD_outBuffer out{into.data(), into.size(), given};
      const std::size_t code = ZSTD_decompressStream(stream_, &out, &in);
      used_ = in.pos;
      given = out.pos;
      if (ZSTD_isError(code) != 0) {
        damaged(ZSTD_getErrorName(code));
      } else {
        inside_frame_ = code != 0;
      }
    }
    PITWALL_TRY(grown(given));
    return given;
  }

 private:
  ZSTD_DStream* stream_;
  bool inside_frame_ = false;
};

class XzSource final : public CompressedSource {
 public:
  using CompressedSource::CompressedSource;
  ~XzSource() override { lzma_end(&stream_); }
  const char* compression() const override { return "xz"; }

  Result<std::size_t> read(std::span<char> into) override {
    if (!started_ && lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK)
      return fail(ErrorCode::io, "xz: out of memory");
    started_ = true;
    std::size_t given = 0;
    while (given < into.size() && !ended_) {
      const bool more = PITWALL_TRY(refill());
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data() + used_);
      stream_.avail_in = filled_ - used_;
      stream_.next_out = reinterpret_cast<std::uint8_t*>(into.data() + given);
      stream_.avail_out = into.size() - given;
      const lzma_ret code = lzma_code(&stream_, more ? LZMA_RUN : LZMA_FINISH);
      used_ = filled_ - stream_.avail_in;
      given = into.size() - stream_.avail_out;
      if (code == LZMA_STREAM_END) {
        ended_ = true;
      } else if (code == LZMA_MEMLIMIT_ERROR) {
        damaged("needs more than 256 MiB of memory to decompress");
      } else if (code != LZMA_OK && code != LZMA_BUF_ERROR) {
        damaged("not a valid xz stream");
      } else if (code == LZMA_BUF_ERROR || (!more && stream_.avail_out > 0)) {
        damaged("the file ends inside an xz stream");
      }
    }
    PITWALL_TRY(grown(given));
    return given;
  }

 private:
  static constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool started_ = false;
};

}  // namespace

Status checkGrowth(const std::string& path, Bytes produced, Bytes consumed, const ImportLimits& limits) {
  if (produced > limits.decompressed_bytes) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: decompresses to more than {} bytes; decompress it yourself to import it",
                            path, limits.decompressed_bytes));
  }
  if (produced > kRatioFreeBytes && produced / std::max<Bytes>(1, consumed) > limits.decompression_ratio) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: expands more than {} times when decompressed, unlike any trace; "
                            "decompress it yourself to import it",
                            path, limits.decompression_ratio));
  }
  return {};
}

Result<std::unique_ptr<ByteSource>> ByteSource::openPart(const std::string& path, std::uint64_t from,
                                                         std::uint64_t bytes, std::string damage) {
  auto file = std::make_unique<RawFile>();
  PITWALL_TRY(file->open(path));
  PITWALL_TRY(file->seek(from));
  const auto size = static_cast<std::uint64_t>(file->size());
  bytes = std::min(bytes, size - std::min(size, from));
  return {std::make_unique<PartSource>(std::move(file), bytes, std::move(damage))};
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path, const ImportLimits& limits) {
  auto file = std::make_unique<RawFile>();
  PITWALL_TRY(file->open(path));
  std::array<char, magic::kStartBytes> head{};
  auto got = PITWALL_TRY(file->read(head));
  if (got == 0) return fail(ErrorCode::invalidInput, fmt::format("{}: the file is empty", path));
  PITWALL_TRY(file->rewind());
  const std::string_view start(head.data(), got);
  if (magic::isGzip(start)) return {std::make_unique<GzipSource>(std::move(file), limits)};
  if (magic::isZstd(start)) return {std::make_unique<ZstdSource>(std::move(file), limits)};
  if (magic::isXz(start)) return {std::make_unique<XzSource>(std::move(file), limits)};
  return {std::make_unique<PlainSource>(std::move(file))};
}

Result<std::size_t> readFully(ByteSource& source, std::span<char> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const std::size_t part = PITWALL_TRY(source.read(into.subspan(got)));
    if (part == 0) break;
    got += part;
  }
  return got;
}

}  // namespace pitwall::import
