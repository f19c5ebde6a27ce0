// Where CPython keeps what a stack sampler needs, by version. Offsets are in bytes, for 64-bit builds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/record/stacks/line_table.h"
#include "analyzer/record/stacks/process_memory.h"
#include "db/result.h"

namespace pitwall::record {

// Of a code object only its first bytes are read.
inline constexpr std::uint32_t kCodeObjectBytes = 168;

struct PythonLayout {
  int minor = 0;              // of Python 3
  std::uint32_t heads = 0;    // _PyRuntime: first interpreter
  std::uint32_t threads = 0;  // interpreter: first thread state
  std::uint32_t next_interpreter = 0;
  struct {
    std::uint32_t next, frame, thread_id;
    std::uint32_t native_id;  // 0 = not there: the thread is found by thread_id, a pthread_t
  } thread{};
  // 3.11 and 3.12: thread.frame leads to a structure with the pointer to the frame at this place.
  std::optional<std::uint32_t> frame_in_cframe;
  struct {
    std::uint32_t previous, code, instruction, size;
    std::uint32_t owner;   // 0 = not there
    std::uint32_t locals;  // arguments first
  } frame{};
  bool instruction_is_address = true;  // else a number of units of `instruction_unit` bytes within the code
  int instruction_unit = 1;
  // Frames of this owner, and of greater ones, mark calls from C; none = there are no such frames.
  std::optional<std::uint8_t> first_c_owner;
  Address tag_bits = 0;  // of a frame's references to objects: bits that are no part of the address
  struct {
    std::uint32_t file, name, qualified_name, first_line, lines,
        instructions;  // qualified_name: 0 = not there
  } code{};
  LineFormat line_format = LineFormat::pairs;
  std::uint32_t ascii_header = 0, compact_header = 0;  // of a str: size before the characters
  // The interpreter lock: in _PyRuntime, or where a pointer in the interpreter leads to; its size.
  std::uint32_t lock_in_runtime = 0, lock_of_interpreter = 0, lock_size = 0;
};

// Of CPython 3.`minor`, whose _PyRuntime is at `runtime`. Errors: unsupported, with versions that can be read.
Result<PythonLayout> pythonLayout(int minor, const ProcessMemory& memory, Address runtime);

}  // namespace pitwall::record
