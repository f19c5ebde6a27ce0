// Names of native functions in a process.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/record/stacks/elf_file.h"
#include "analyzer/record/stacks/frame_table.h"
#include "analyzer/record/stacks/mappings.h"

namespace pitwall::record {

// Files are read once for all processes. Those of another container or of an update have the same path, but
// another inode.
class SymbolFiles {
 public:
  // Null where the file cannot be read or is not an ELF file.
  const ElfFile* of(pid_t pid, const Mapping& mapping);

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::string>;  // device, inode, path
  std::map<Key, std::optional<ElfFile>> files_;
};

class Symbols {
 public:
  // Both outlive the object.
  Symbols(pid_t pid, SymbolFiles& files, FrameTable& frames) : pid_(pid), files_(files), frames_(frames) {}

  // False when nothing has changed.
  bool refresh(std::vector<Mapping> mappings);
  const std::vector<Mapping>& mappings() const { return mappings_; }

  // The number of the frame at the address; nullopt when no file is mapped there. Functions
  // without a symbol are one, named by their library.
  std::optional<std::uint32_t> frameAt(Address at);

 private:
  const pid_t pid_;
  SymbolFiles& files_;
  FrameTable& frames_;
  std::vector<Mapping> mappings_;
  std::unordered_map<Address, std::uint32_t> known_;
};

}  // namespace pitwall::record
