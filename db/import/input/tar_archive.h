// Tar archives: the list of members. Formats: POSIX (ustar, pax) and GNU, with long names. Only regular files;
// names are used only in messages, and no file is written or opened by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/input/byte_source.h"

namespace pitwall::import {

struct TarMember {
  std::string name;  // with invalid text replaced
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;   // as the archive states
  std::string damage = {};   // why the member may be incomplete; empty = it is whole
  std::string refusal = {};  // why its content cannot be read from the archive; empty = it can
};

// `start`: at least the first 512 bytes.
bool isTar(std::string_view start);

// The regular files of the uncompressed archive that is read, in its order. An archive that is cut yields the
// members before the cut, and the last of them has the damage. Errors: io; invalidInput (more than 4096 members, or a
// damaged header before the first).
Result<std::vector<TarMember>> tarMembers(ByteSource& archive, const std::string& shown);

}  // namespace pitwall::import
