#include "analyzer/record/stacks/python_layout.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace pitwall::record {
namespace {

constexpr std::uint32_t kLockSize = 208;     // of its condition variables and mutexes, glibc
constexpr std::uint32_t kObjectHeader = 16;  // of every object

// Offsets as offsetof() reports them for each version's own headers.
PythonLayout upTo310(int minor) {
  PythonLayout layout;
  layout.minor = minor;
  layout.heads = 32;
  layout.threads = 8;
  layout.thread = {.next = 8, .frame = 24, .thread_id = 176, .native_id = 0};
  layout.frame = {.previous = 24,
                  .code = 32,
                  .instruction = minor == 10 ? 96u : 104u,
                  .size = 112,
                  .owner = 0,
                  .locals = minor == 10 ? 352u : 360u};
  layout.instruction_is_address = false;
  layout.instruction_unit = minor == 10 ? 2 : 1;
  layout.code = {
      .file = 104, .name = 112, .qualified_name = 0, .first_line = 40, .lines = 120, .instructions = 48};
  layout.line_format = minor == 10 ? LineFormat::ranges : LineFormat::pairs;
  layout.ascii_header = 48;
  layout.compact_header = 72;
  layout.lock_in_runtime = minor == 8 ? 1152 : 352;
  layout.lock_size = kLockSize;
  return layout;
}

PythonLayout of311() {
  PythonLayout layout;
  layout.minor = 11;
  layout.heads = 40;
  layout.threads = 16;
  layout.thread = {.next = 8, .frame = 56, .thread_id = 152, .native_id = 160};
  layout.frame_in_cframe = 8;
  layout.frame = {.previous = 48, .code = 32, .instruction = 56, .size = 72, .owner = 69, .locals = 72};
  layout.code = {
      .file = 112, .name = 120, .qualified_name = 128, .first_line = 72, .lines = 136, .instructions = 184};
  layout.line_format = LineFormat::locations;
  layout.ascii_header = 48;
  layout.compact_header = 72;
  layout.lock_in_runtime = 360;
  layout.lock_size = kLockSize;
  return layout;
}

PythonLayout of312() {
  PythonLayout layout = of311();
  layout.minor = 12;
  layout.threads = 72;
  layout.thread = {.next = 8, .frame = 56, .thread_id = 136, .native_id = 144};
  layout.frame_in_cframe = 0;
  layout.frame = {.previous = 8, .code = 0, .instruction = 56, .size = 72, .owner = 70, .locals = 72};
  layout.first_c_owner = 3;
  layout.code.first_line = 68;
  layout.code.instructions = 192;
  layout.ascii_header = 40;
  layout.compact_header = 56;
  layout.lock_in_runtime = 0;
  layout.lock_of_interpreter = 384;
  return layout;
}

// From 3.13 on Python describes itself: _PyRuntime begins with a table of 64-bit numbers, `_Py_DebugOffsets` (3.13: pycore_runtime.h,
// later pycore_debug_offsets.h). Which number stands where differs by version.
struct Places {
  std::size_t interpreters_head, interpreter_next, threads_head, ceval_gil;
  std::size_t thread_next, current_frame, thread_id, native_thread_id;
  std::size_t frame_previous, frame_executable, frame_instruction, frame_locals, frame_owner;
  std::size_t code_filename, code_name, code_qualname, code_linetable, code_firstlineno, code_instructions;
};
constexpr std::size_t kVersion = 1, kFreeThreaded = 2;
constexpr std::size_t kPlaces = 57;

constexpr Places placesOf(int minor) {
  Places at{};
  at.interpreters_head = 5, at.interpreter_next = 8, at.threads_head = 9;
  std::size_t frame = 29, code = 35;
  if (minor == 13) {
    at.ceval_gil = 14, at.thread_next = 21, at.current_frame = 23, at.thread_id = 24;
  } else {
    const bool at_15 = minor == 15;  // with more members of the thread, before its numbers
    at.ceval_gil = 15, at.thread_next = 24, at.current_frame = 26, at.thread_id = at_15 ? 30 : 27;
    frame = at_15 ? 40 : 32, code = at_15 ? 48 : 40;
  }
  at.native_thread_id = at.thread_id + 1;
  at.frame_previous = frame, at.frame_executable = frame + 1, at.frame_instruction = frame + 2;
  at.frame_locals = frame + 3, at.frame_owner = frame + 4;
  at.code_filename = code, at.code_name = code + 1, at.code_qualname = code + 2;
  at.code_linetable = code + 3, at.code_firstlineno = code + 4, at.code_instructions = code + 8;
  return at;
}
static_assert(placesOf(15).code_instructions == kPlaces - 1);

// Whether all members of frames and code objects are within the bytes that are read of them.
bool isPlausible(const PythonLayout& layout) {
  const auto& frame = layout.frame;
  const auto& code = layout.code;
  const auto holdsAddress = [](std::uint32_t at, std::uint32_t size) { return at <= size - sizeof(Address); };
  const auto isPointerOfCode = [&](std::uint32_t at) {
    return at >= kObjectHeader && holdsAddress(at, kCodeObjectBytes);
  };
  return holdsAddress(frame.previous, frame.size) && holdsAddress(frame.code, frame.size) &&
         holdsAddress(frame.instruction, frame.size) && frame.owner < frame.size &&
         isPointerOfCode(code.file) && isPointerOfCode(code.name) && isPointerOfCode(code.qualified_name) &&
         isPointerOfCode(code.first_line) && isPointerOfCode(code.lines);
}

Result<PythonLayout> describedByItself(int minor, const ProcessMemory& memory, Address runtime) {
  const Places places = placesOf(minor);
  std::array<std::uint64_t, kPlaces> table{};
  const std::size_t size = places.code_instructions + 1;
  const auto refused = [minor](const char* why) {
    return fail(ErrorCode::unsupported, fmt::format("Python 3.{}: {}", minor, why));
  };
  if (!memory.read(runtime, table.data(), size * sizeof table[0]))
    return refused("its table of offsets cannot be read");
  if (std::memcmp(table.data(), "xdebugpy", 8) != 0) return refused("it has no table of offsets");
  if (table[kFreeThreaded] != 0) return refused("builds without an interpreter lock are not supported");
  if (table[kVersion] >> 16 != 0x0300 + static_cast<std::uint64_t>(minor))
    return refused("its table is of another version");
  for (std::size_t i = places.interpreters_head; i < size; ++i) {
    if (table[i] > 1'000'000) return refused("its table of offsets is implausible");
  }
  const auto at = [&](std::size_t place) { return static_cast<std::uint32_t>(table[place]); };
  PythonLayout layout = of312();
  layout.minor = minor;
  layout.heads = at(places.interpreters_head);
  layout.threads = at(places.threads_head);
  layout.next_interpreter = at(places.interpreter_next);
  layout.thread = {.next = at(places.thread_next),
                   .frame = at(places.current_frame),
                   .thread_id = at(places.thread_id),
                   .native_id = at(places.native_thread_id)};
  layout.frame_in_cframe.reset();
  layout.frame.previous = at(places.frame_previous);
  layout.frame.code = at(places.frame_executable);
  layout.frame.instruction = at(places.frame_instruction);
  layout.frame.owner = at(places.frame_owner);
  layout.frame.locals = at(places.frame_locals);
  layout.code = {.file = at(places.code_filename),
                 .name = at(places.code_name),
                 .qualified_name = at(places.code_qualname),
                 .first_line = at(places.code_firstlineno),
                 .lines = at(places.code_linetable),
                 .instructions = at(places.code_instructions)};
  layout.lock_of_interpreter = at(places.ceval_gil);
  if (minor >= 14) {
    layout.tag_bits = 3;
    layout.frame.size = 80;
  }
  if (!isPlausible(layout)) return refused("its table of offsets is implausible");
  return layout;
}

}  // namespace

Result<PythonLayout> pythonLayout(int minor, const ProcessMemory& memory, Address runtime) {
  if (minor >= 8 && minor <= 10) return upTo310(minor);
  if (minor == 11) return of311();
  if (minor == 12) return of312();
  if (minor >= 13 && minor <= 15) return describedByItself(minor, memory, runtime);
  return fail(ErrorCode::unsupported,
              fmt::format("Python 3.{}: stacks of Python 3.8 to 3.15 are read", minor));
}

}  // namespace pitwall::record
