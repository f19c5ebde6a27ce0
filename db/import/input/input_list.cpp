#include "db/import/input/input_list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "db/try.h"

namespace pitwall::import {

bool looksCompressed(std::string_view start) {
  return start.substr(0, 2) == "\x1f\x8b" || start.substr(0, 4) == "\x28\xb5\x2f\xfd" || looksLikeZip(start);
}

Result<std::vector<InputFile>> expandInputs(std::span<const std::string> paths, const ImportLimits& limits) {
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) {
    auto source = PITWALL_TRY(ByteSource::open(path, limits));
    std::array<char, 4> start{};
    auto got = PITWALL_TRY(source->read(start));
    const bool plain = std::strcmp(source->compression(), "none") == 0;
    if (!plain || !looksLikeZip({start.data(), got})) {
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

Result<std::unique_ptr<TemporaryCopy>> TemporaryCopy::make(Window& window) {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(code);
  std::string path = (folder / "pitwall-import-XXXXXX").string();
  const int descriptor = code ? -1 : ::mkstemp(path.data());
  if (descriptor < 0) {
    return fail(ErrorCode::io, fmt::format("no temporary file in {}: {}; set TMPDIR to another folder",
                                           folder.string(), std::strerror(errno)));
  }
  std::unique_ptr<TemporaryCopy> copy(new TemporaryCopy(path));
  std::FILE* file = ::fdopen(descriptor, "wb");
  Status status;
  while (status.has_value()) {
    const std::string_view view = window.view();
    if (std::fwrite(view.data(), 1, view.size(), file) != view.size()) break;
    window.take(view.size());
    if (window.atEnd()) break;
    status = window.more(std::size_t{1} << 20);
  }
  const bool failed = std::ferror(file) != 0;
  if ((std::fclose(file) != 0 || failed) && status.has_value()) {
    return fail(ErrorCode::io, fmt::format("{}: cannot be written: {}; set TMPDIR to another folder", path,
                                           std::strerror(errno)));
  }
  PITWALL_TRY(status);
  return copy;
}

TemporaryCopy::~TemporaryCopy() {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::remove((path_ + suffix).c_str());
}

}  // namespace pitwall::import
