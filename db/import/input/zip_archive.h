// Zip archives: the list of members, and the bytes of one member. Only stored and deflated members, no
// encryption, no archives of several volumes. Names are used only in messages; no file is written or opened
// by them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/input/byte_source.h"

namespace pitwall::import {

struct ZipMember {
  std::string name;  // with invalid text replaced
  std::uint64_t header_at = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t plain_bytes = 0;  // as the archive states; checked, never trusted
  std::uint32_t crc = 0;
  std::uint16_t method = 0;
  bool known_size = true;  // false: the directory is missing, the member ends where its data end
};

inline constexpr std::size_t kMostZipMembers = 4096;

// The files in the archive, in the order of its directory; folders are left out. A truncated archive has no
// directory: then only its first member, with known_size false. Errors: io; invalidInput (not an archive,
// more than kMostZipMembers, or a directory that points outside the file).
Result<std::vector<ZipMember>> zipMembers(const std::string& path);

// Errors: io; unsupported (encrypted, or packed in another way); invalidInput (no member begins there).
Result<std::unique_ptr<ByteSource>> openZipMember(const std::string& path, const ZipMember& member,
                                                  const ImportLimits& limits);

}  // namespace pitwall::import
