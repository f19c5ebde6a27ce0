// Names and lines of Python code objects in another process, cached.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/record/stacks/frame_table.h"
#include "analyzer/record/stacks/process_memory.h"
#include "analyzer/record/stacks/python_layout.h"

namespace pitwall::record {

// A str of at most 4096 characters as UTF-8; nullopt where the memory does not hold one.
std::optional<std::string> pythonText(const ProcessMemory& memory, const PythonLayout& layout, Address at);

class PythonCode {
 public:
  // All outlive the object.
  PythonCode(const ProcessMemory& memory, const PythonLayout& layout, FrameTable& frames)
      : memory_(memory), layout_(layout), frames_(frames) {}

  // An execution: of which code, and how far from its first instruction, in bytes.
  struct Place {
    Address code = 0;
    std::int64_t byte = 0;
  };
  // The frames of the places, appended in their order. False: one of them is no code object.
  bool resolve(std::span<const Place> places, std::vector<std::uint32_t>& into);

 private:
  static constexpr std::uint32_t kFrom = 8;  // the object's type
  // The part of a code object that identifies it: a freed object's address is used again.
  using Header = std::array<std::uint8_t, kCodeObjectBytes - kFrom>;
  struct Code {
    Header header{};
    std::string function, file;
    int first_line = 0;
    std::vector<std::uint8_t> lines;
    std::unordered_map<std::int64_t, std::uint32_t> frames;  // by byte
    std::size_t bytes = 0;                                   // of memory, about
  };
  std::size_t headerSize() const;
  template <class T>
  T field(const Header& header, std::uint32_t offset) const;
  bool isCode(const Header& header);
  std::optional<Code> load(const Header& header) const;
  std::uint32_t frameAt(Code& code, std::int64_t byte);
  // Null when there is no code object. The next call may invalidate it.
  Code* codeAt(Address at, const Header& header);

  static constexpr std::size_t kMostCodes = 1 << 16;
  const ProcessMemory& memory_;
  const PythonLayout& layout_;
  FrameTable& frames_;
  Address code_type_ = 0;
  std::unordered_map<Address, Code> codes_;
  std::size_t bytes_ = 0;        // of `codes_`, about
  std::vector<Header> headers_;  // scratch
};

}  // namespace pitwall::record
