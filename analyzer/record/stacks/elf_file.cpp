#include "analyzer/record/stacks/elf_file.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace pitwall::record {
namespace {

constexpr std::uint64_t kLongestFunction = 1 << 20;  // of those without a size

struct Close {
  void operator()(Elf* elf) const { elf_end(elf); }
};

struct File {
  explicit File(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (number >= 0) ::close(number);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const int number;
};

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

Result<ElfFile> ElfFile::open(const std::string& path, std::size_t most_symbols) {
  const File file(path);
  if (file.number < 0) return fail(ErrorCode::notFound, fmt::format("{} cannot be opened", path));
  elf_version(EV_CURRENT);
  // Not mapped: reading a mapped file that is being truncated ends the recorder by SIGBUS.
  const std::unique_ptr<Elf, Close> elf(elf_begin(file.number, ELF_C_READ, nullptr));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF || gelf_getclass(elf.get()) != ELFCLASS64)
    return fail(ErrorCode::unsupported, fmt::format("{} is not a 64-bit program or library", path));
  ElfFile made;
  std::size_t segments = 0;
  elf_getphdrnum(elf.get(), &segments);
  for (std::size_t i = 0; i < std::min<std::size_t>(segments, 256); ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD)
      made.segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
  }
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count =
        data != nullptr && header.sh_entsize != 0 ? data->d_size / header.sh_entsize : 0;
    for (std::size_t i = 0; i < count && most_symbols > 0; ++i, --most_symbols) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF)
        continue;
      const unsigned type = GELF_ST_TYPE(symbol.st_info);
      const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
      const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if ((!function && type != STT_OBJECT) || name == nullptr || *name == '\0') continue;
      made.symbols_.push_back({symbol.st_value, symbol.st_size, name, function});
    }
  }
  std::ranges::stable_sort(made.symbols_, {}, &Symbol::address);
  return made;
}

std::optional<std::uint64_t> ElfFile::symbol(std::string_view name) const {
  const auto found = std::ranges::find(symbols_, name, &Symbol::name);
  return found == symbols_.end() ? std::nullopt : std::optional(found->address);
}

std::optional<std::uint64_t> ElfFile::addressOf(std::uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset >= segment.offset && file_offset - segment.offset < segment.size)
      return file_offset - segment.offset + segment.address;
  }
  return std::nullopt;
}

std::string ElfFile::functionAt(std::uint64_t address) const {
  auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  for (int i = 0; i < 16 && at != symbols_.begin(); ++i) {
    --at;
    const std::uint64_t size = at->size != 0 ? at->size : kLongestFunction;
    if (at->function && address - at->address < size) return demangled(at->name);
    if (at->function) break;
  }
  return "";
}

}  // namespace pitwall::record
