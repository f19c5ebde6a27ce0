#include "runtime/data/idx_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "db/try.h"

namespace pitwall::data {

namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

// Reads a gzip file, or an uncompressed one.
class Input {
 public:
  explicit Input(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    open_error_ = errno;
    if (file_ != nullptr) gzbuffer(file_.get(), 1U << 17U);
  }

  Status checkOpen() const {
    if (file_ != nullptr) return {};
    const ErrorCode code =
        open_error_ == ENOENT || open_error_ == ENOTDIR ? ErrorCode::notFound : ErrorCode::io;
    return fail(code, fmt::format("{}: cannot be opened: {}", path_, std::strerror(open_error_)));
  }

  // Number of bytes read, fewer than requested only at the end of the file.
  Result<std::size_t> read(std::span<std::uint8_t> to) {
    std::size_t done = 0;
    while (done < to.size()) {
      const auto ask = static_cast<unsigned>(std::min<std::size_t>(to.size() - done, 1U << 26U));
      const int got = gzread(file_.get(), to.data() + done, ask);
      if (got < 0) return broken();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
      offset_ += got;
    }
    int code = Z_OK;
    (void)gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) return broken();  // truncated gzip data
    return done;
  }

  std::int64_t offset() const { return offset_; }

  Failure wrong(const std::string& what) const {
    return fail(ErrorCode::invalidInput, fmt::format("{}: at byte {}: {}", path_, offset_, what));
  }

 private:
  Failure broken() {
    int code = Z_OK;
    const std::string text = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) {
      return fail(ErrorCode::io, fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
    }
    if (code == Z_BUF_ERROR) return wrong("the gzipped data is truncated");
    return wrong("the gzipped data is damaged: " + text);
  }

  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  const std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
  int open_error_ = 0;
  std::int64_t offset_ = 0;  // of the unpacked data
};

std::uint32_t bigEndian(std::span<const std::uint8_t, 4> b) {
  return static_cast<std::uint32_t>(b[0]) << 24U | static_cast<std::uint32_t>(b[1]) << 16U |
         static_cast<std::uint32_t>(b[2]) << 8U | static_cast<std::uint32_t>(b[3]);
}

// The next 32-bit number of the header.
Result<std::uint32_t> headerNumber(Input& input) {
  std::array<std::uint8_t, 4> bytes{};
  const auto got = PITWALL_TRY(input.read(bytes));
  if (got < bytes.size()) return input.wrong("the file ends within its header");
  return bigEndian(bytes);
}

Result<std::vector<std::int64_t>> readHeader(Input& input, int dimensions) {
  const auto magic = PITWALL_TRY(headerNumber(input));
  const std::uint32_t expected = kUnsignedByte << 8U | static_cast<std::uint32_t>(dimensions);
  if (magic != expected) {
    return input.wrong(
        fmt::format("magic number {:#010x} instead of {:#010x}: not an idx file of unsigned bytes "
                    "with {} dimension{}",
                    magic, expected, dimensions, dimensions == 1 ? "" : "s"));
  }
  std::vector<std::int64_t> extents;
  std::int64_t elements = 1;
  for (int i = 0; i < dimensions; ++i) {
    const auto extent = PITWALL_TRY(headerNumber(input));
    if (extent == 0) return input.wrong(fmt::format("dimension {} is 0", i));
    extents.push_back(extent);
    if (elements > kMostElements / extent) return input.wrong("the dimensions are impossibly large");
    elements *= extent;
  }
  return extents;
}

}  // namespace

Result<IdxFile> readIdxFile(const std::string& path, int dimensions) {
  Input input(path);
  PITWALL_TRY(input.checkOpen());
  IdxFile file;
  file.dimensions = PITWALL_TRY(readHeader(input, dimensions));
  std::int64_t elements = 1;
  for (const std::int64_t extent : file.dimensions) elements *= extent;

  // In pieces: a header with a larger size than the file must not cost memory.
  constexpr std::int64_t kPiece = 16 << 20;
  for (std::int64_t done = 0; done < elements;) {
    const std::int64_t piece = std::min(kPiece, elements - done);
    file.bytes.resize(static_cast<std::size_t>(done + piece));
    const auto got = PITWALL_TRY(input.read(std::span(file.bytes).subspan(static_cast<std::size_t>(done))));
    done += static_cast<std::int64_t>(got);
    if (static_cast<std::int64_t>(got) < piece) {
      return input.wrong(fmt::format("the file ends after {} of {} elements", done, elements));
    }
  }
  std::array<std::uint8_t, 1> more{};
  const auto trailing = PITWALL_TRY(input.read(more));
  if (trailing != 0)
    return input.wrong(fmt::format("there is data after the {} elements of the header", elements));
  return file;
}

}  // namespace pitwall::data
