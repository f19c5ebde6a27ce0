// What is mapped into a process: /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/record/stacks/process_memory.h"

namespace pitwall::record {

struct Mapping {
  Address begin = 0, end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0, inode = 0;  // of the file
  bool executable = false;
  std::string path;  // "" = no file
};

// Ordered by address, as the kernel writes them. Lines that cannot be parsed are left out.
std::vector<Mapping> parseMappings(std::string_view maps);

// The mapping that holds the address; null = none.
const Mapping* mappingAt(const std::vector<Mapping>& mappings, Address at);

}  // namespace pitwall::record
