#include "db/import/xla/xplane_start.h"

#include <cstdint>

#include "db/import/input/protobuf.h"

namespace pitwall::import {

// There is no magic number: the first plane must have one of the names that planes have.
bool isXplane(std::string_view start) {
  if (!start.starts_with('\x0A')) return false;
  start.remove_prefix(1);
  std::uint64_t length = 0;
  if (!takeVarint(start, length) || length == 0) return false;
  ProtoMessage plane(start.substr(0, length));
  ProtoField field;
  while (plane.next(field) && field.number <= 2) {
    if (field.number == 1 && field.is_bytes) return false;
    if (field.number != 2) continue;
    const std::string_view name = field.bytes;
    return field.is_bytes && name.size() < 256 &&
           (name.starts_with("/host:") || name.starts_with("/device:") || name == "Task Environment" ||
            name == "Host CPUs" || name == "Syscalls");
  }
  return false;
}

}  // namespace pitwall::import
