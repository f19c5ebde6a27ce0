#include "db/sqlite/file_state.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "db/file_magic.h"
#include "db/sqlite/schema.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

// The database header: https://www.sqlite.org/fileformat2.html section 1.3; numbers are big-endian.
constexpr std::size_t kHeaderBytes = 100;

using Header = std::array<std::byte, kHeaderBytes>;

std::uint32_t bigEndian(const Header& header, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint32_t>(header[at + i]);
  return value;
}

bool isNotEmpty(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

void readHeader(const Header& header, FileState& state) {
  if (!magic::isSqlite({reinterpret_cast<const char*>(header.data()), header.size()})) {
    state.kind = FileKind::text;
    return;
  }
  if (bigEndian(header, 68, 4) != kApplicationId) {
    state.kind = FileKind::foreignDatabase;
    return;
  }
  state.kind = FileKind::trace;
  state.schema_version = static_cast<int>(bigEndian(header, 60, 4));
  state.wal_mode = bigEndian(header, 18, 1) == 2 || bigEndian(header, 19, 1) == 2;
  const std::uint32_t page_field = bigEndian(header, 16, 2);
  const std::int64_t page_bytes = page_field == 1 ? 65536 : page_field;
  const std::int64_t pages = bigEndian(header, 28, 4);
  state.truncated = !state.has_wal && !state.has_journal && pages * page_bytes > state.size_bytes;
}

}  // namespace

std::string walPath(const std::string& path) { return path + "-wal"; }
std::string shmPath(const std::string& path) { return path + "-shm"; }
std::string journalPath(const std::string& path) { return path + "-journal"; }

Result<FileState> inspectFile(const std::string& path) {
  FileState state;
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return state;
    return fail(ErrorCode::io,
                fmt::format("cannot examine '{}': {}; check the path and its folder's permissions", path,
                            std::strerror(errno)));
  }
  if (S_ISDIR(info.st_mode)) {
    state.kind = FileKind::folder;
    return state;
  }
  if (!S_ISREG(info.st_mode)) {
    state.kind = FileKind::special;
    return state;
  }
  state.size_bytes = info.st_size;
  state.has_wal = isNotEmpty(walPath(path));
  state.has_journal = isNotEmpty(journalPath(path));
  if (state.size_bytes == 0) {
    state.kind = FileKind::empty;
    return state;
  }
  Connection connection = PITWALL_TRY(Connection::open(path, OpenMode::readOnly));
  Header header = {};
  PITWALL_TRY(connection.readRaw(header));
  readHeader(header, state);
  return state;
}

}  // namespace pitwall::store
