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
  // The part of a code object that identifies it: a freed object's address is used again.
  using Header = std::array<std::uint8_t, 160>;
  struct Code {
    Header header{};
    std::string function, file;
    int first_line = 0;
    std::vector<std::uint8_t> lines;
    std::unordered_map<std::int64_t, std::uint32_t> frames;  // by byte
  };
  std::size_t headerSize() const { return layout_.code.lines + 8 - kFrom; }
  template <class T>
  T field(const Header& header, std::uint32_t offset) const;
  bool isCode(const Header& header);
  std::optional<Code> load(const Header& header) const;
  std::uint32_t frameAt(Code& code, std::int64_t byte);

  static constexpr std::uint32_t kFrom = 8;  // the object's type
  static constexpr std::size_t kMostCodes = 1 << 16;
  const ProcessMemory& memory_;
  const PythonLayout& layout_;
  FrameTable& frames_;
  Address code_type_ = 0;
  std::unordered_map<Address, Code> codes_;
  std::vector<Header> headers_;  // scratch
};

}  // namespace pitwall::record
