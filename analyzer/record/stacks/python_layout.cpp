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
  layout.c_owner = 3;
  layout.code.first_line = 68;
  layout.code.instructions = 192;
  layout.ascii_header = 40;
  layout.compact_header = 56;
  layout.lock_in_runtime = 0;
  layout.lock_of_interpreter = 384;
  return layout;
}

// 3.13 describes itself: _PyRuntime begins with a table of 64-bit numbers (pycore_runtime.h, _Py_DebugOffsets).
struct DebugOffsets {
  enum Place : std::size_t {
    version = 1,
    free_threaded = 2,
    interpreters_head = 5,
    interpreter_next = 8,
    threads_head = 9,
    ceval_gil = 14,
    thread_next = 21,
    current_frame = 23,
    thread_id = 24,
    native_thread_id = 25,
    frame_previous = 29,
    frame_executable = 30,
    frame_instruction = 31,
    frame_locals = 32,
    frame_owner = 33,
    code_filename = 35,
    code_name = 36,
    code_qualname = 37,
    code_linetable = 38,
    code_firstlineno = 39,
    code_instructions = 43,
    places = 44
  };
  std::array<std::uint64_t, places> numbers{};
};

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

Result<PythonLayout> of313(const ProcessMemory& memory, Address runtime) {
  DebugOffsets table;
  const auto refused = [](const char* why) {
    return fail(ErrorCode::unsupported, fmt::format("Python 3.13: {}", why));
  };
  if (!memory.read(runtime, table.numbers.data(), sizeof table.numbers))
    return refused("its table of offsets cannot be read");
  if (std::memcmp(table.numbers.data(), "xdebugpy", 8) != 0) return refused("it has no table of offsets");
  if (table.numbers[DebugOffsets::free_threaded] != 0)
    return refused("builds without an interpreter lock are not supported");
  if (table.numbers[DebugOffsets::version] >> 16 != 0x030d) return refused("its table is of another version");
  for (std::size_t i = DebugOffsets::interpreters_head; i < DebugOffsets::places; ++i) {
    if (table.numbers[i] > 1'000'000) return refused("its table of offsets is implausible");
  }
  const auto at = [&](DebugOffsets::Place place) { return static_cast<std::uint32_t>(table.numbers[place]); };
  PythonLayout layout = of312();
  layout.minor = 13;
  layout.heads = at(DebugOffsets::interpreters_head);
  layout.threads = at(DebugOffsets::threads_head);
  layout.next_interpreter = at(DebugOffsets::interpreter_next);
  layout.thread = {.next = at(DebugOffsets::thread_next),
                   .frame = at(DebugOffsets::current_frame),
                   .thread_id = at(DebugOffsets::thread_id),
                   .native_id = at(DebugOffsets::native_thread_id)};
  layout.frame_in_cframe.reset();
  layout.frame.previous = at(DebugOffsets::frame_previous);
  layout.frame.code = at(DebugOffsets::frame_executable);
  layout.frame.instruction = at(DebugOffsets::frame_instruction);
  layout.frame.owner = at(DebugOffsets::frame_owner);
  layout.frame.locals = at(DebugOffsets::frame_locals);
  layout.code = {.file = at(DebugOffsets::code_filename),
                 .name = at(DebugOffsets::code_name),
                 .qualified_name = at(DebugOffsets::code_qualname),
                 .first_line = at(DebugOffsets::code_firstlineno),
                 .lines = at(DebugOffsets::code_linetable),
                 .instructions = at(DebugOffsets::code_instructions)};
  layout.lock_of_interpreter = at(DebugOffsets::ceval_gil);
  if (!isPlausible(layout)) return refused("its table of offsets is implausible");
  return layout;
}

}  // namespace

Result<PythonLayout> pythonLayout(int minor, const ProcessMemory& memory, Address runtime) {
  if (minor >= 8 && minor <= 10) return upTo310(minor);
  if (minor == 11) return of311();
  if (minor == 12) return of312();
  if (minor == 13) return of313(memory, runtime);
  return fail(ErrorCode::unsupported,
              fmt::format("Python 3.{}: stacks of Python 3.8 to 3.13 are read", minor));
}

}  // namespace pitwall::record
