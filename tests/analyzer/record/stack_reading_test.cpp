// Readers of other processes' memory and files, over made-up and hostile bytes.
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "analyzer/record/sample/stack_probe.h"
#include "analyzer/record/stacks/elf_file.h"
#include "analyzer/record/stacks/find_python.h"
#include "analyzer/record/stacks/line_table.h"
#include "analyzer/record/stacks/mappings.h"
#include "analyzer/record/stacks/native_stacks.h"
#include "analyzer/record/stacks/process_stacks.h"
#include "analyzer/record/stacks/symbols.h"
#include "db/proc_files.h"
#include "tests/support/memory_sink.h"
#include "tests/support/temp_folder.h"

namespace pitwall::record::stack_reading_test {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kNeedsDescriptors = true;
#elif defined(__has_feature)
constexpr bool kNeedsDescriptors = __has_feature(address_sanitizer);
#else
constexpr bool kNeedsDescriptors = false;
#endif

using testing::HasSubstr;
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
  EXPECT_EQ(mappings[0].device, 0xfdULL << 32);
  EXPECT_EQ(mappings[0].inode, 12u);
  EXPECT_EQ(mappings[2].path, "");
  EXPECT_EQ(mappingAt(mappings, 0x400fff)->path, "/usr/bin/a b");
}

TEST(Mappings, LookUp) {
  const std::vector<Mapping> mappings{{10, 20, 0, 0, 0, true, "a"}, {30, 40, 0, 0, 0, true, "b"}};
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

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A library with two tables of symbols: "a" in one, "b" in the other.
std::string twoTables() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  const std::size_t symbols = sizeof header, names = symbols + 2 * sizeof(Elf64_Sym);
  header.e_shoff = names + 8;
  std::string bytes;
  append(bytes, header);
  for (const Elf64_Word name : {1u, 3u}) {
    Elf64_Sym symbol{};
    symbol.st_name = name;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = 16 * name;
    symbol.st_size = 16;
    append(bytes, symbol);
  }
  bytes += std::string("\0a\0b\0\0\0\0", 8);
  append(bytes, Elf64_Shdr{});
  for (std::size_t i = 0; i < 2; ++i) {
    Elf64_Shdr table{};
    table.sh_type = SHT_SYMTAB;
    table.sh_offset = symbols + i * sizeof(Elf64_Sym);
    table.sh_size = table.sh_entsize = sizeof(Elf64_Sym);
    table.sh_link = 3;
    append(bytes, table);
  }
  Elf64_Shdr strings{};
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = names;
  strings.sh_size = 8;
  append(bytes, strings);
  return bytes;
}

TEST(ElfFile, SymbolsOfAllTablesTogetherAreLimited) {
  const test::TempFolder folder;
  std::ofstream(folder / "x.so", std::ios::binary) << twoTables();
  const auto all = ElfFile::open(folder / "x.so").value();
  EXPECT_EQ(all.symbol("a"), 16u);
  EXPECT_EQ(all.symbol("b"), 48u);
  const auto one = ElfFile::open(folder / "x.so", 1).value();
  EXPECT_EQ(one.symbol("a"), 16u);
  EXPECT_FALSE(one.symbol("b").has_value());
}

TEST(ElfFile, TruncatedFilesAreReadSafely) {
  const test::TempFolder folder;
  const std::string whole = twoTables();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    std::ofstream(folder / "x.so", std::ios::binary) << whole.substr(0, size);
    const auto file = ElfFile::open(folder / "x.so");
    if (file.has_value()) {
      EXPECT_FALSE(file->symbol("no such symbol").has_value());
    }
  }
}

// A container's library has the path of the system's, and an update replaces a file.
TEST(SymbolFiles, AreToldApartByTheirInodes) {
  const test::TempFolder folder;
  const std::string path = folder / "x.so";
  std::ofstream(path) << "nothing";
  SymbolFiles files;
  Mapping mapping{
      .begin = 0, .end = 1, .file_offset = 0, .device = 8, .inode = 1, .executable = true, .path = path};
  EXPECT_EQ(files.of(getpid(), mapping), nullptr);
  std::ofstream(path, std::ios::binary) << twoTables();
  EXPECT_EQ(files.of(getpid(), mapping), nullptr);  // each is read once
  mapping.inode = 2;
  const ElfFile* const other = files.of(getpid(), mapping);
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(other->symbol("a").has_value());
}

TEST(FrameTable, FramesBeyondItsBytesAreOne) {
  FrameTable frames(1000);
  const auto numberOf = [&](const std::string& name) {
    return frames.number({.function = name, .file = "x.py", .line = 1, .language = "python"});
  };
  const auto first = numberOf("f0");
  EXPECT_FALSE(frames.isFull());
  for (int i = 1; i < 100; ++i) numberOf("f" + std::to_string(i));
  EXPECT_TRUE(frames.isFull());
  EXPECT_LT(frames.size(), 10u);
  EXPECT_EQ(numberOf("f0"), first);
  EXPECT_EQ(frames[numberOf("g")].function, "[other functions]");
  EXPECT_EQ(numberOf("g"), numberOf("h"));
  const FrameInfo state{.function = "sleeping", .file = "", .line = 0, .language = kStateLanguage};
  EXPECT_EQ(frames[frames.number(state)].function, "sleeping");
}

#if defined(__x86_64__)
TEST(NativeStacks, AFailedReadOfCodeIsTriedAgain) {
  struct Code final : ProcessMemory {
    bool read(std::span<const Part> parts) const override {
      for (const Part& part : parts) std::memset(part.to, byte, part.size);
      return readable;
    }
    bool readable = false;
    int byte = 0xe8;  // call
  } code;
  ChainCheck chains(code);
  EXPECT_FALSE(chains.isReturnAddress(0x1000));
  code.readable = true;
  EXPECT_TRUE(chains.isReturnAddress(0x1000));
  code.byte = 0x90;
  EXPECT_TRUE(chains.isReturnAddress(0x1000));
  chains.forget();  // other code is mapped there now
  EXPECT_FALSE(chains.isReturnAddress(0x1000));
}
#endif

TEST(NativeStacks, AThreadWithoutARingDoesNotEndThoseOfOthers) {
  if (kNeedsDescriptors) GTEST_SKIP() << "the undefined behaviour sanitizer reads memory through a pipe";
  SymbolFiles files;
  FrameTable frames;
  ProcessStacks stacks(getpid(), StackMode::native, 1000, files, frames);
  stacks.refresh(host::readFile("/proc/self/maps").value());
  const auto own = static_cast<pid_t>(syscall(SYS_gettid));
  std::vector<std::uint32_t> stack;
  stacks.read(own, true, stack);
  if (!stacks.note().empty()) GTEST_SKIP() << stacks.note();
  std::atomic<pid_t> other{0};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    other = static_cast<pid_t>(syscall(SYS_gettid));
    over.wait(false);
  });
  while (other == 0) std::this_thread::yield();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto without = stacks.read(other, true, stack);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(without, ProcessStacks::Read::none);
  over = true;
  over.notify_all();
  thread.join();
  EXPECT_THAT(stacks.note(), HasSubstr("native stacks of some threads are not recorded"));
  EXPECT_THAT(stacks.note(), HasSubstr("ulimit -n"));
  // This thread runs until the kernel has sampled it.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  auto read = ProcessStacks::Read::none;
  while (read != ProcessStacks::Read::done && std::chrono::steady_clock::now() < end)
    read = stacks.read(own, true, stack);
  EXPECT_EQ(read, ProcessStacks::Read::done);
}

// A thread that ends, or has just begun, has no file `syscall`; that of the others is read all the same.
TEST(StackProbe, AFileThatIsNotThereDoesNotEndTheReadingOfOthers) {
  const test::TempFolder tasks;
  for (const char* const thread : {"7", "8"}) {
    std::filesystem::create_directories(tasks.path() / thread);
    std::ofstream(tasks.path() / thread / "stat")
        << thread
        << " (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 "
           "0 0 0 0 0 0 0 0 0 0\n";
  }
  std::ofstream(tasks.path() / "8" / "syscall")
      << SYS_clock_nanosleep << " 0x0 0x0 0x7f00 0x0 0x0 0x0 0x0 0x0\n";
  const int folder = open(tasks.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  test::MemorySink sink;
  SampleLog log(sink, std::nullopt);
  StackRecorder recorder(StackMode::python, 100, sink);
  LockAddresses locks;
  StackProbe probe(getpid(), locks, recorder);
  const TraceClock clock;
  const ProcessRef process = log.process({});
  const auto states = [&] {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < recorder.frames.size(); ++i) names.push_back(recorder.frames[i].function);
    return names;
  };
  probe.sample(folder, 7, log.thread(process, 7), clock, log);
  EXPECT_EQ(states(), std::vector<std::string>{"waiting"});
  probe.sample(folder, 8, log.thread(process, 8), clock, log);
  EXPECT_EQ(states(), (std::vector<std::string>{"waiting", "sleeping"}));
  EXPECT_EQ(recorder.taken, 0);  // neither has a stack
  close(folder);
}

}  // namespace
}  // namespace pitwall::record::stack_reading_test
