// A file whose bytes are in memory, read when they are first used.
#pragma once

#include <memory>
#include <span>
#include <string>

namespace pitwall::gui {

// The bytes live as long as the owner.
struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // null: the file cannot be mapped
};
MappedFile mapFile(const std::string& path);

}  // namespace pitwall::gui
