// The inputs of an import: files, and each member of archives among them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/import/input/byte_source.h"
#include "db/import/input/window.h"
#include "db/import/input/zip_archive.h"

namespace pitwall::import {

struct InputFile {
  std::string path;
  std::string shown;  // path, and the member's name after it
  std::optional<ZipMember> member;
  bool one_of_many = false;  // of an archive: members that are not traces are left out with a note
};

// Errors: as ByteSource::open and zipMembers.
Result<std::vector<InputFile>> expandInputs(std::span<const std::string> paths, const ImportLimits& limits);

Result<std::unique_ptr<ByteSource>> openInput(const InputFile& input, const ImportLimits& limits);

// Whether content that begins like this is itself compressed or an archive.
bool looksCompressed(std::string_view start);

// A file in the system's temporary folder that is removed with this object: for inputs that must be read in
// place (a database) or unpacked again.
class TemporaryCopy {
 public:
  // Writes the rest of the window. Errors: io (no folder, disk full), cancelled, invalidInput (limits).
  static Result<std::unique_ptr<TemporaryCopy>> make(Window& window);
  ~TemporaryCopy();
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryCopy(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace pitwall::import
