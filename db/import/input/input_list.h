// The inputs of an import: files, those in folders, and each member of archives among them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/import/input/byte_source.h"
#include "db/import/input/tar_archive.h"
#include "db/import/input/window.h"
#include "db/import/input/zip_archive.h"
#include "db/profile_origin.h"
#include "db/temporary.h"

namespace pitwall::import {

struct InputFile {
  std::string path;   // of a stream and a compressed tar archive: its copy
  std::string shown;  // the name as given, and the member's name after it; control characters escaped
  std::optional<ZipMember> member;
  std::optional<TarMember> tar_member = {};
  std::shared_ptr<const void> copy =
      {};  // of a stream, or of an archive, decompressed; kept as long as a member
  std::optional<ProfileOrigin> origin = {};  // what `pitwall record` knows of a profile
  // Of an archive or a folder: what is no trace is left out with a note.
  bool one_of_many = false;
};

// `notes` get what was left out of a folder. Errors: as inputPath, ByteSource::open, tracesInFolder, zipMembers and
// tarMembers, and as TemporaryCopy::make.
Result<std::vector<InputFile>> expandInputs(std::span<const std::string> paths, const ImportOptions& options,
                                            std::vector<std::string>& notes);

Result<std::unique_ptr<ByteSource>> openInput(const InputFile& input, const ImportLimits& limits);

// Whether content that begins like this is itself compressed or an archive.
bool looksCompressed(std::string_view start);

// A file in the system's temporary folder that is removed with this object: for inputs that must be read in
// place (a database) or unpacked again.
class TemporaryCopy {
 public:
  // Writes the rest of the window. Errors: io (no folder, disk full), cancelled, invalidInput (limits).
  static Result<TemporaryCopy> make(Window& window);
  std::string path() const { return folder_.file("copy"); }

 private:
  explicit TemporaryCopy(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

}  // namespace pitwall::import
