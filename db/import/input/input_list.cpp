#include "db/import/input/input_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "db/escaped.h"
#include "db/file_magic.h"
#include "db/import/input/folder.h"
#include "db/input_path.h"
#include "db/temporary.h"
#include "db/try.h"
#include "db/write_all.h"

namespace pitwall::import {

bool looksCompressed(std::string_view start) {
  return magic::isGzip(start) || magic::isZstd(start) || magic::isXz(start) || magic::isZip(start) ||
         isTar(start);
}

namespace {

// Up to a tar archive's first header.
Result<std::string> startOfContent(ByteSource& source) {
  std::string start(512, '\0');
  start.resize(PITWALL_TRY(readFully(source, start)));
  return start;
}

template <class Member>
void addMembers(const InputFile& archive, std::vector<Member> members,
                std::optional<Member> InputFile::*place, std::vector<InputFile>& inputs) {
  for (Member& member : members) {
    InputFile input = archive;
    input.shown = fmt::format("{}: {}", archive.shown, member.name);
    input.*place = std::move(member);
    input.one_of_many = members.size() > 1;
    inputs.push_back(std::move(input));
  }
}

// Members are read at their places: a compressed archive is decompressed once.
Status addTar(InputFile archive, bool plain, const ImportOptions& options, std::vector<InputFile>& inputs) {
  std::string damage;
  if (!plain) {
    const auto source = PITWALL_TRY(ByteSource::open(archive.path, options.limits));
    Window window(*source, options, archive.shown);
    TemporaryCopy copy = PITWALL_TRY(TemporaryCopy::make(window));
    archive.path = copy.path();
    archive.copy = std::make_shared<const TemporaryCopy>(std::move(copy));
    damage = source->damage();
  }
  const auto source = PITWALL_TRY(ByteSource::open(archive.path, options.limits));
  auto members = PITWALL_TRY(tarMembers(*source, archive.shown));
  if (members.empty())
    return fail(ErrorCode::invalidInput, fmt::format("{}: is a tar archive without files{}{}", archive.shown,
                                                     damage.empty() ? "" : ": ", damage));
  if (!damage.empty()) members.back().damage = damage;
  addMembers(archive, std::move(members), &InputFile::tar_member, inputs);
  return {};
}

Status addZip(const InputFile& archive, std::vector<InputFile>& inputs) {
  addMembers(archive, PITWALL_TRY(zipMembers(archive.path)), &InputFile::member, inputs);
  return {};
}

// Archives are expanded, other inputs are added as they are.
Status addFile(const std::string& name, const ImportOptions& options, std::vector<InputFile>& inputs) {
  InputPath opened = PITWALL_TRY(inputPath(name, options.cancel));
  InputFile input{std::move(opened.path), std::move(opened.shown), {}};
  input.copy = std::move(opened.copy);
  const auto source = PITWALL_TRY(ByteSource::open(input.path, options.limits));
  const std::string start = PITWALL_TRY(startOfContent(*source));
  const bool plain = std::strcmp(source->compression(), "none") == 0;
  if (isTar(start)) return addTar(std::move(input), plain, options, inputs);
  if (plain && magic::isZip(start)) return addZip(input, inputs);
  inputs.push_back(std::move(input));
  return {};
}

// What cannot be an input stays in the list, so that it is named where the others are read.
Status addFolder(const std::string& folder, const ImportOptions& options, std::vector<InputFile>& inputs,
                 std::vector<std::string>& notes) {
  const FolderTraces found = PITWALL_TRY(tracesInFolder(folder, options.output));
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  const std::size_t before = inputs.size();
  for (const std::string& file : found.files) {
    const Status status = addFile(file, options, inputs);
    if (status.has_value()) continue;
    if (status.error().code != ErrorCode::invalidInput) return fail(status.error());
    inputs.push_back({file, escaped(file), {}});
  }
  for (std::size_t i = before; i < inputs.size() && inputs.size() > before + 1; ++i)
    inputs[i].one_of_many = true;
  return {};
}

bool isFolder(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

}  // namespace

Result<std::vector<InputFile>> expandInputs(std::span<const std::string> paths, const ImportOptions& options,
                                            std::vector<std::string>& notes) {
  std::vector<InputFile> inputs;
  for (const std::string& path : paths) {
    PITWALL_TRY(isFolder(path) ? addFolder(path, options, inputs, notes) : addFile(path, options, inputs));
  }
  return inputs;
}

Result<std::unique_ptr<ByteSource>> openInput(const InputFile& input, const ImportLimits& limits) {
  if (const auto& member = input.tar_member) {
    if (!member->refusal.empty())
      return fail(ErrorCode::invalidInput, fmt::format("{}: {}", input.shown, member->refusal));
    return ByteSource::openPart(input.path, member->from, member->bytes, member->damage);
  }
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
