// Symbols of an executable or shared library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"

namespace pitwall::record {

class ElfFile {
 public:
  static constexpr std::size_t kMostSymbols = 4'000'000;
  // Reads `most_symbols` of it at most. Errors: notFound; unsupported (not a 64-bit ELF file of
  // this machine's byte order).
  static Result<ElfFile> open(const std::string& path, std::size_t most_symbols = kMostSymbols);

  // Addresses are those of the file, before it is loaded.
  std::optional<std::uint64_t> symbol(std::string_view name) const;
  // The address that a place in the file is loaded to.
  std::optional<std::uint64_t> addressOf(std::uint64_t file_offset) const;
  // The function that contains the address, as a programmer writes it; "" = unknown.
  std::string functionAt(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address = 0, size = 0;
    std::string name;
    bool function = false;
  };
  struct Segment {
    std::uint64_t offset = 0, size = 0, address = 0;
  };
  std::vector<Symbol> symbols_;  // by address
  std::vector<Segment> segments_;
};

// "pitwall::f(int)" of "_ZN7pitwall1fEi"; other names unchanged.
std::string demangled(const std::string& name);

}  // namespace pitwall::record
