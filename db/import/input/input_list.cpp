#include "db/import/input/input_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "db/file_magic.h"
#include "db/temporary.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall::import {

bool looksCompressed(std::string_view start) {
  return magic::isGzip(start) || magic::isZstd(start) || magic::isZip(start);
}

Result<std::vector<InputFile>> expandInputs(std::span<const std::string> paths, const ImportLimits& limits) {
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) {
    auto source = PITWALL_TRY(ByteSource::open(path, limits));
    std::array<char, 4> start{};
    auto got = PITWALL_TRY(source->read(start));
    const bool plain = std::strcmp(source->compression(), "none") == 0;
    if (!plain || !magic::isZip({start.data(), got})) {
      inputs.push_back({path, path, {}, false});
      continue;
    }
    auto members = PITWALL_TRY(zipMembers(path));
    for (ZipMember& member : members) {
      const std::string shown = fmt::format("{}: {}", path, member.name);
      inputs.push_back({path, shown, std::move(member), members.size() > 1});
    }
  }
  return inputs;
}

Result<std::unique_ptr<ByteSource>> openInput(const InputFile& input, const ImportLimits& limits) {
  if (input.member) return openZipMember(input.path, *input.member, limits);
  return ByteSource::open(input.path, limits);
}

Result<TemporaryCopy> TemporaryCopy::make(Window& window) {
  TemporaryCopy copy(PITWALL_TRY(TemporaryFolder::create("a decompressed input")));
  const std::string path = copy.path();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : 0;
  Status status;
  while (error == 0 && status.has_value()) {
    const std::string_view view = window.view();
    error = writeAll(file, view);
    window.take(view.size());
    if (window.atEnd()) break;
    status = window.more(std::size_t{1} << 20);
  }
  if (file >= 0 && ::close(file) != 0 && error == 0) error = errno;
  if (error != 0) {
    return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}; set TMPDIR to another folder", path,
                                           std::strerror(error)));
  }
  PITWALL_TRY(status);
  return copy;
}

}  // namespace pitwall::import
