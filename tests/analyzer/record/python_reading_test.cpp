// Python stacks out of made-up and hostile memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "analyzer/record/stacks/python_stacks.h"
#include "tests/analyzer/record/python_311.h"

namespace pitwall::record::python_reading_test {
namespace {

using python_311::Bytes, python_311::Memory, python_311::Python311;

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

// The frame would end after the last address.
TEST_F(Python311, AFrameAtTheEndOfTheAddressesIsNoFrame) {
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_EQ(read(functions_), PythonStacks::Read::done);
  memory_.put(outer_ + 48, Address(-8));
  EXPECT_EQ(read(functions_), PythonStacks::Read::torn);
}

// The structure that leads to the innermost frame changes with each call from C into Python.
TEST_F(Python311, AStackIsReadThroughAnotherStructureThanTheLastTime) {
  ASSERT_TRUE(stacks_->findThreads());
  ASSERT_EQ(read(functions_), PythonStacks::Read::done);
  const Address second = memory_.take(24);
  memory_.put(second + 8, frame(code("called", 70), inner_));
  memory_.put(state_ + kCframeAt, second);
  memory_.put<Address>(cframe_ + 8, 0);
  ASSERT_EQ(read(functions_), PythonStacks::Read::done);
  EXPECT_EQ(functions_, (std::vector<std::string>{"C.outer:11", "C.inner:51", "C.called:71"}));
}

// Of each code object a line table of a mebibyte: of 80 not all are kept.
TEST_F(Python311, KeptCodeObjectsAreLimitedInBytes) {
  ASSERT_TRUE(stacks_->findThreads());
  memory_.bytes.resize(3 << 20);
  const Address lines = memory_.take(2 << 20);
  memory_.put<std::int64_t>(lines + 16, 1 << 20);
  memory_.put<std::uint8_t>(lines + 32, 0x80 | 7);
  Address top = 0;
  for (int i = 0; i < 80; ++i) {
    const Address of = code("f" + std::to_string(i), 10);
    memory_.put(of + 136, lines);
    top = frame(of, top);
  }
  memory_.put(cframe_ + 8, top);
  int reads = 0;
  memory_.before_part = [&reads] { ++reads; };
  ASSERT_EQ(read(functions_), PythonStacks::Read::done);
  ASSERT_EQ(functions_.size(), 80u);
  const int first = reads;
  ASSERT_EQ(read(functions_), PythonStacks::Read::done);
  EXPECT_GT(reads - first, 4 * 60);  // its name, its file, the size and bytes of its lines
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
  for (const int minor : {-1, 7, 16, 99}) {
    const auto layout = pythonLayout(minor, memory, Memory::kBase);
    ASSERT_FALSE(layout.has_value());
    EXPECT_EQ(layout.error().code, ErrorCode::unsupported);
  }
  for (const int minor : {13, 14, 15}) {  // without their table of offsets
    EXPECT_FALSE(pythonLayout(minor, memory, Memory::kBase).has_value());
    EXPECT_FALSE(pythonLayout(minor, memory, 1).has_value());
  }
}

// Where the numbers stand in the tables of the versions that describe themselves, counted in their headers.
struct Described {
  int minor;
  int heads, next_interpreter, threads, lock;
  int next, current_frame, id, native_id;
  int previous, executable, instruction, locals, owner;
  int file, name, qualified_name, lines, first_line, instructions;
};
void PrintTo(const Described& version, std::ostream* to) { *to << "3." << version.minor; }

// Here they are as the made-up 3.11 is.
class DescribedPython : public Python311, public testing::WithParamInterface<Described> {
 protected:
  DescribedPython() {
    for (const auto& [code, name] : {std::pair(*memory_.value<Address>(inner_ + 32), "inner"),
                                     std::pair(*memory_.value<Address>(outer_ + 32), "outer")}) {
      memory_.put(code + 112, memory_.text("/x/a.py", 40));
      memory_.put(code + 128, memory_.text(name, 40));
    }
    memory_.put(state_ + kCframeAt, inner_);
    table_ = memory_.take(8 * 64);
    std::memcpy(&memory_.bytes.at(table_ - Memory::kBase), "xdebugpy", 8);
    put(1, 0x030000f0u + (static_cast<std::uint64_t>(at.minor) << 16));
    const auto heads = *memory_.value<Address>(runtime_ + 40);
    memory_.put(table_ + 8 * 60, heads);
    using Offsets = std::initializer_list<std::pair<int, std::uint64_t>>;
    for (const auto& [number, offset] : Offsets{{at.heads, 8 * 60},
                                                {at.next_interpreter, 0},
                                                {at.threads, 16},
                                                {at.lock, 32},
                                                {at.next, 8},
                                                {at.current_frame, 56},
                                                {at.id, 152},
                                                {at.native_id, 160},
                                                {at.previous, 48},
                                                {at.executable, 32},
                                                {at.instruction, 56},
                                                {at.locals, 72},
                                                {at.owner, 69},
                                                {at.file, 112},
                                                {at.name, 120},
                                                {at.qualified_name, 128},
                                                {at.lines, 136},
                                                {at.first_line, 72},
                                                {at.instructions, 184}})
      put(number, offset);
  }
  void put(int number, std::uint64_t offset) {
    memory_.put(table_ + 8 * static_cast<Address>(number), offset);
  }
  void create() { stacks_ = PythonStacks::create(memory_, frames_, table_, at.minor).value(); }

  const Described at = GetParam();
  Address table_ = 0;
};

TEST_P(DescribedPython, IsReadByItsTableOfOffsets) {
  create();
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_EQ(read(functions_), PythonStacks::Read::done);
  EXPECT_EQ(functions_, (std::vector<std::string>{"outer:11", "inner:51"}));
}

// Of references in frames the low bits say who counts them, from 3.14 on; before, such an address is damage.
TEST_P(DescribedPython, ReferencesAreReadWithoutTheirTags) {
  const Address number = memory_.take(32);
  memory_.put<std::uint64_t>(number + 16, 1 << 3);
  memory_.put<std::uint32_t>(number + 24, 5);
  memory_.put(inner_ + 72, number | 1);
  for (const Address frame : {inner_, outer_})
    memory_.put(frame + 32, Address{*memory_.value<Address>(frame + 32) | 1});
  create();
  ASSERT_TRUE(stacks_->findThreads());
  if (at.minor < 14) {
    EXPECT_EQ(read(functions_), PythonStacks::Read::torn);
    return;
  }
  EXPECT_EQ(read(functions_), PythonStacks::Read::done);
  EXPECT_EQ(functions_, (std::vector<std::string>{"outer:11", "inner:51"}));
  EXPECT_EQ(stacks_->argument(1, 0), 5u);
}

TEST_P(DescribedPython, FramesThatMarkCallsFromCAreNoFunctions) {
  create();
  ASSERT_TRUE(stacks_->findThreads());
  for (const std::uint8_t owner : {std::uint8_t{3}, std::uint8_t{4}}) {
    memory_.put(inner_ + 69, owner);
    EXPECT_EQ(read(functions_), PythonStacks::Read::done);
    EXPECT_EQ(functions_, (std::vector<std::string>{"outer:11"})) << int{owner};
  }
}

TEST_P(DescribedPython, ATableOfAnotherVersionIsRefused) {
  EXPECT_TRUE(pythonLayout(at.minor, memory_, table_).has_value());
  put(1, 0x030000f0u + (static_cast<std::uint64_t>(at.minor + 1) << 16));
  EXPECT_FALSE(pythonLayout(at.minor, memory_, table_).has_value());
  put(1, 0x030000f0u + (static_cast<std::uint64_t>(at.minor) << 16));
  put(2, 1);
  const auto layout = pythonLayout(at.minor, memory_, table_);
  ASSERT_FALSE(layout.has_value());
  EXPECT_NE(layout.error().message.find("without an interpreter lock"), std::string::npos);
}

TEST_P(DescribedPython, ATableThatLeadsOutOfItsObjectsIsRefused) {
  struct Case {
    int number;
    std::uint64_t good, bad;
  };
  for (const Case& c : {Case{at.lines, 136, 5000},
                        {at.lines, 136, 161},
                        {at.lines, 136, 0},
                        {at.file, 112, 161},
                        {at.name, 120, 8},
                        {at.qualified_name, 128, 4000},
                        {at.first_line, 72, 999'999},
                        {at.previous, 48, 73},
                        {at.owner, 69, 80}}) {
    put(c.number, c.bad);
    const auto layout = pythonLayout(at.minor, memory_, table_);
    ASSERT_FALSE(layout.has_value()) << c.number << " " << c.bad;
    EXPECT_NE(layout.error().message.find("implausible"), std::string::npos);
    put(c.number, c.good);
    EXPECT_TRUE(pythonLayout(at.minor, memory_, table_).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Versions, DescribedPython,
    testing::Values(Described{13, 5, 8, 9, 14, 21, 23, 24, 25, 29, 30, 31, 32, 33, 35, 36, 37, 38, 39, 43},
                    Described{14, 5, 8, 9, 15, 24, 26, 27, 28, 32, 33, 34, 35, 36, 40, 41, 42, 43, 44, 48},
                    Described{15, 5, 8, 9, 15, 24, 26, 30, 31, 40, 41, 42, 43, 44, 48, 49, 50, 51, 52, 56}));

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
}  // namespace pitwall::record::python_reading_test
