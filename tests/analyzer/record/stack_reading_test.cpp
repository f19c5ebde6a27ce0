// Readers of other processes' memory and files, over made-up and hostile bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include "analyzer/record/stacks/elf_file.h"
#include "analyzer/record/stacks/find_python.h"
#include "analyzer/record/stacks/line_table.h"
#include "analyzer/record/stacks/mappings.h"
#include "analyzer/record/stacks/native_stacks.h"
#include "analyzer/record/stacks/python_stacks.h"

namespace pitwall::record::stack_reading_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(LineTable, PairsUpToPython39) {
  // Lines 10 (bytes 0..5), 11 (6..9), 311 (10..), where 300 lines need three pairs, then back to 309.
  const Bytes table{6, 1, 4, 127, 0, 127, 0, 46, 2, 0xfe};
  const auto at = [&](std::int64_t byte) { return lineAt(LineFormat::pairs, table, 10, byte); };
  EXPECT_EQ(at(0), 10);
  EXPECT_EQ(at(5), 10);
  EXPECT_EQ(at(6), 11);
  EXPECT_EQ(at(10), 311);
  EXPECT_EQ(at(12), 309);
  EXPECT_EQ(lineAt(LineFormat::pairs, {}, 7, 100), 7);  // one line
}

TEST(LineTable, RangesOfPython310) {
  // Line 20: bytes 0..3; 22: 4..7; none: 8..9; 21: 10..11.
  const Bytes table{4, 0, 4, 2, 2, 0x80, 2, 0xff};
  const auto at = [&](std::int64_t byte) { return lineAt(LineFormat::ranges, table, 20, byte); };
  EXPECT_EQ(at(0), 20);
  EXPECT_EQ(at(4), 22);
  EXPECT_EQ(at(8), 0);
  EXPECT_EQ(at(10), 21);
  EXPECT_EQ(at(12), 0);
  EXPECT_EQ(at(-2), 20);
}

TEST(LineTable, LocationsFromPython311) {
  const Bytes table{
      0x80 | 0 << 3 | 1,  5,                     // short, 2 units of 2 bytes: line 30
      0x80 | 11 << 3 | 0, 4,        9,           // one line further, 1 unit: 31
      0x80 | 14 << 3 | 0, 0x40 | 9, 3, 0, 1, 1,  // long: 9 + (3 << 6) = 201, so 100 lines back
      0x80 | 15 << 3 | 0,                        // none, 1 unit
      0x80 | 13 << 3 | 7, 2 << 1,                // no columns, 8 units, 2 lines on
  };
  const auto at = [&](int first, std::int64_t byte) {
    return lineAt(LineFormat::locations, table, first, byte);
  };
  EXPECT_EQ(at(330, 0), 330);
  EXPECT_EQ(at(330, 3), 330);
  EXPECT_EQ(at(330, 4), 331);
  EXPECT_EQ(at(330, 6), 231);
  EXPECT_EQ(at(330, 8), 0);
  EXPECT_EQ(at(330, 10), 233);
  EXPECT_EQ(at(330, 25), 233);
  EXPECT_EQ(at(330, 26), 0);
  EXPECT_EQ(at(30, 6), 0);  // a line below 1
}

TEST(LineTable, AnyBytesAreReadSafely) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    Bytes table(random() % 40);
    for (auto& byte : table) byte = static_cast<std::uint8_t>(random());
    for (const auto format : {LineFormat::pairs, LineFormat::ranges, LineFormat::locations}) {
      const int line = lineAt(format, table, static_cast<int>(random() % 1000), random() % 200);
      EXPECT_GE(line, 0);
      EXPECT_LT(line, 100'000'000);
    }
  }
}

TEST(Mappings, AreParsedAndLinesOfOtherFormsLeftOut) {
  const auto mappings = parseMappings(
      "00400000-00401000 r-xp 00001000 fd:00 12   /usr/bin/a b\n"
      "nonsense\n7f00-\n"
      "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n"
      "7f0000002000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7ffe0000-7ffe1000 r-xp 00000000 00:00 0    [vdso]");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].path, "/usr/bin/a b");
  EXPECT_TRUE(mappings[0].executable);
  EXPECT_EQ(mappings[0].file_offset, 0x1000u);
  EXPECT_EQ(mappings[2].path, "");
  EXPECT_EQ(mappingAt(mappings, 0x400fff)->path, "/usr/bin/a b");
}

TEST(Mappings, LookUp) {
  const std::vector<Mapping> mappings{{10, 20, 0, true, "a"}, {30, 40, 0, true, "b"}};
  EXPECT_EQ(mappingAt(mappings, 9), nullptr);
  EXPECT_EQ(mappingAt(mappings, 19)->path, "a");
  EXPECT_EQ(mappingAt(mappings, 20), nullptr);
  EXPECT_EQ(mappingAt(mappings, 30)->path, "b");
  EXPECT_EQ(mappingAt({}, 30), nullptr);
}

TEST(FindPython, VersionOfTheName) {
  EXPECT_EQ(minorOfName("/usr/bin/python3.11"), 11);
  EXPECT_EQ(minorOfName("/opt/libpython3.8.so.1.0"), 8);
  EXPECT_EQ(minorOfName("/usr/bin/python3"), -1);
  EXPECT_EQ(minorOfName("/usr/bin/python3.x"), -1);
}

TEST(NativeStacks, ReturnAddressesFollowCalls) {
#if defined(__x86_64__)
  const auto follows = [](std::array<std::uint8_t, 7> bytes) { return endsWithCall(bytes); };
  EXPECT_TRUE(follows({0x90, 0x90, 0xe8, 1, 2, 3, 4}));              // call relative
  EXPECT_TRUE(follows({0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}));  // call *%rax
  EXPECT_TRUE(follows({0x90, 0xff, 0x15, 1, 2, 3, 4}));              // call *symbol
  EXPECT_FALSE(follows({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}));
  EXPECT_FALSE(follows({0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xc0}));  // inc %eax
#endif
}

TEST(ElfFile, OtherFilesAreRefused) {
  EXPECT_EQ(ElfFile::open("/no/such/file").error().code, ErrorCode::notFound);
  EXPECT_EQ(ElfFile::open("/etc/passwd").error().code, ErrorCode::unsupported);
  EXPECT_EQ(ElfFile::open("/dev/null").error().code, ErrorCode::unsupported);
  const auto own = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(own.has_value());
  EXPECT_TRUE(own->symbol("main").has_value());
  EXPECT_EQ(own->functionAt(*own->symbol("main")), "main");
  EXPECT_EQ(demangled("_ZN7pitwall1fEi"), "pitwall::f(int)");
  EXPECT_EQ(demangled("_Znot"), "_Znot");
}

// The memory of a made-up process.
class Memory : public ProcessMemory {
 public:
  using ProcessMemory::read;
  bool read(std::span<const Part> parts) const override {
    return std::ranges::all_of(parts, [&](const Part& part) {
      if (before_part) before_part();
      if (part.from < kBase || part.from - kBase > bytes.size() ||
          part.size > bytes.size() - (part.from - kBase))
        return false;
      std::memcpy(part.to, &bytes[part.from - kBase], part.size);
      return true;
    });
  }
  template <class T>
  void put(Address at, T value) {
    std::memcpy(&bytes.at(at - kBase), &value, sizeof value);
  }
  Address take(std::size_t size) {
    const Address at = kBase + next_;
    next_ += (size + 7) / 8 * 8;
    return at;
  }
  Address text(const std::string& value) {
    const Address at = take(48 + value.size() + 1);
    put<std::uint64_t>(at + 16, value.size());
    put<std::uint32_t>(at + 32, 1u << 2 | 1u << 5 | 1u << 6);  // one byte a character, compact, ASCII
    std::memcpy(&bytes.at(at + 48 - kBase), value.data(), value.size());
    return at;
  }

  static constexpr Address kBase = 0x10000;
  Bytes bytes = Bytes(1 << 16);
  std::function<void()> before_part;  // the process continues between parts of one call, too

 private:
  std::size_t next_ = 64;
};

// Python 3.11 with one thread, number 77, in inner() called by outer().
class Python311 : public testing::Test {
 protected:
  static constexpr std::uint32_t kCframeAt = 56;
  Python311() {
    type_ = memory_.take(64);
    const Address name = memory_.take(8);
    std::memcpy(&memory_.bytes.at(name - Memory::kBase), "code", 5);
    memory_.put(type_ + 24, name);
    runtime_ = memory_.take(1024);
    const Address interpreter = memory_.take(64);
    state_ = memory_.take(256);
    cframe_ = memory_.take(24);
    memory_.put(runtime_ + 40, interpreter);
    memory_.put(interpreter + 16, state_);
    memory_.put(state_ + kCframeAt, cframe_);
    memory_.put<std::uint64_t>(state_ + 160, 77);
    outer_ = frame(code("outer", 10), 0);
    inner_ = frame(code("inner", 50), outer_);
    memory_.put(cframe_ + 8, inner_);
    stacks_ = std::move(PythonStacks::create(memory_, frames_, runtime_, 11).value());
  }
  Address code(const std::string& name, int line) {
    const Address at = memory_.take(256);
    memory_.put(at + 8, type_);
    memory_.put(at + 72, line);
    memory_.put(at + 112, memory_.text("/x/a.py"));
    memory_.put(at + 120, memory_.text(name));
    memory_.put(at + 128, memory_.text("C." + name));
    const Address lines = memory_.take(64);
    memory_.put<std::int64_t>(lines + 16, 3);
    memory_.put<std::uint8_t>(lines + 32, 0x80 | 11 << 3 | 7);  // 8 units, one line further
    memory_.put(at + 136, lines);
    return at;
  }
  Address frame(Address code, Address previous) {
    const Address at = memory_.take(96);
    memory_.put(at + 32, code);
    memory_.put(at + 48, previous);
    memory_.put(at + 56, code + 184 + 4);
    return at;
  }
  PythonStacks::Read read(std::vector<std::string>& functions) {
    std::vector<std::uint32_t> numbers;
    const auto result = stacks_->read(77, numbers);
    functions.clear();
    for (const auto number : numbers)
      functions.push_back(frames_[number].function + ":" + std::to_string(frames_[number].line));
    return result;
  }

  Memory memory_;
  FrameTable frames_;
  Address type_ = 0, runtime_ = 0, state_ = 0, cframe_ = 0, outer_ = 0, inner_ = 0;
  std::unique_ptr<PythonStacks> stacks_;
  std::vector<std::string> functions_;
};

TEST_F(Python311, ReadsAStack) {
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_TRUE(stacks_->hasThread(77));
  const std::vector<std::string> expected{"C.outer:11", "C.inner:51"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read(functions_), PythonStacks::Read::done);
    EXPECT_EQ(functions_, expected);
  }
  EXPECT_TRUE(stacks_->isInterpreterLock(runtime_ + 360 + 32));
  EXPECT_FALSE(stacks_->isInterpreterLock(runtime_));
  memory_.put<Address>(cframe_ + 8, 0);
  EXPECT_EQ(read(functions_), PythonStacks::Read::none);
}

TEST_F(Python311, AStackThatChangesWhileItIsReadIsTorn) {
  ASSERT_TRUE(stacks_->findThreads());
  std::mt19937 random(5);
  memory_.before_part = [&] { memory_.put(cframe_ + 8, random() % 2 == 0 ? inner_ : outer_); };
  int torn = 0, done = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto result = read(functions_);
    torn += result == PythonStacks::Read::torn;
    done += result == PythonStacks::Read::done;
    if (result == PythonStacks::Read::torn) {
      EXPECT_TRUE(functions_.empty());
    }
    if (result == PythonStacks::Read::done) {
      EXPECT_EQ(functions_.front(), "C.outer:11");
    }
  }
  EXPECT_GT(torn, 0);
  EXPECT_GT(done, 0);
}

TEST_F(Python311, ACodeObjectAtAnAddressUsedAgainIsReadAgain) {
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_EQ(read(functions_), PythonStacks::Read::done);
  const auto code = *memory_.value<Address>(inner_ + 32);
  memory_.put(code + 128, memory_.text("other"));
  EXPECT_EQ(read(functions_), PythonStacks::Read::done);
  EXPECT_EQ(functions_.back(), "other:51");
}

TEST_F(Python311, CyclesAndForeignObjectsAreNoStacks) {
  ASSERT_TRUE(stacks_->findThreads());
  memory_.put(outer_ + 48, inner_);  // a cycle
  EXPECT_EQ(read(functions_), PythonStacks::Read::torn);
  memory_.put<Address>(outer_ + 48, 3);  // not aligned
  EXPECT_EQ(read(functions_), PythonStacks::Read::torn);
  memory_.put<Address>(outer_ + 48, 0);
  memory_.put(*memory_.value<Address>(inner_ + 32) + 8, runtime_);  // of another type
  EXPECT_EQ(read(functions_), PythonStacks::Read::torn);
  memory_.put(state_ + 8, state_);  // a cycle of threads
  EXPECT_TRUE(stacks_->findThreads());
}

TEST_F(Python311, AnyMemoryIsReadSafely) {
  std::mt19937 random(3);
  const Bytes good = memory_.bytes;
  for (int i = 0; i < 3'000; ++i) {
    memory_.bytes = good;
    for (int changes = 0; changes < 1 + i % 40; ++changes)
      memory_.bytes[random() % 4096] = static_cast<std::uint8_t>(random());
    std::vector<std::uint32_t> numbers;
    stacks_->findThreads();
    if (stacks_->read(77, numbers) == PythonStacks::Read::done) {
      EXPECT_LE(numbers.size(), 1024u);
    }
  }
}

TEST(PythonLayout, OtherVersionsAreRefused) {
  const Memory memory;
  for (const int minor : {-1, 7, 14, 99}) {
    const auto layout = pythonLayout(minor, memory, Memory::kBase);
    ASSERT_FALSE(layout.has_value());
    EXPECT_EQ(layout.error().code, ErrorCode::unsupported);
  }
  // 3.13 without its table of offsets.
  EXPECT_FALSE(pythonLayout(13, memory, Memory::kBase).has_value());
  EXPECT_FALSE(pythonLayout(13, memory, 1).has_value());
}

TEST(PythonText, WideCharacters) {
  Memory memory;
  const auto layout = pythonLayout(11, memory, 0).value();
  const Address at = memory.take(128);
  memory.put<std::uint64_t>(at + 16, 2);
  memory.put<std::uint32_t>(at + 32, 2u << 2 | 1u << 5);
  memory.put<std::uint16_t>(at + 72, 0x20ac);
  memory.put<std::uint16_t>(at + 74, 0xd800);  // half of a pair
  EXPECT_EQ(pythonText(memory, layout, at), "\xe2\x82\xac\xef\xbf\xbd");
  memory.put<std::uint64_t>(at + 16, 1u << 30);
  EXPECT_FALSE(pythonText(memory, layout, at).has_value());
  memory.put<std::uint32_t>(at + 32, 0);
  EXPECT_FALSE(pythonText(memory, layout, at).has_value());
}

}  // namespace
}  // namespace pitwall::record::stack_reading_test
