#include "analyzer/record/stacks/find_python.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "analyzer/record/stacks/elf_file.h"

namespace pitwall::record {
namespace {

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string executableOf(pid_t pid) {
  char path[4096];
  const ssize_t size = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

// `mapping` is the file's first one.
PythonRuntime runtimeIn(const ElfFile* file, const Mapping& mapping, const ProcessMemory& memory) {
  if (file == nullptr) return {};
  const auto runtime = file->symbol("_PyRuntime");
  const auto loaded = file->addressOf(mapping.file_offset);
  if (!runtime || !loaded) return {};
  // Segments begin within a page, mappings at its start.
  const Address bias = mapping.begin - (*loaded & ~Address{0xfff});
  PythonRuntime found{*runtime + bias, minorOfName(mapping.path)};
  if (const auto version = file->symbol("Py_Version")) {
    const auto number = memory.value<std::uint64_t>(*version + bias);
    if (number && (*number >> 24 & 0xff) == 3) found.minor = static_cast<int>(*number >> 16 & 0xff);
  }
  return found;
}

}  // namespace

int minorOfName(const std::string& path) {
  const std::string_view name = baseName(path);
  const std::size_t at = name.find("python3.");
  if (at == name.npos) return -1;
  const char* digits = name.data() + at + 8;
  char* end = nullptr;
  const long minor = std::strtol(digits, &end, 10);
  return end != digits && minor >= 0 && minor < 100 ? static_cast<int>(minor) : -1;
}

PythonRuntime findPython(pid_t pid, const std::vector<Mapping>& mappings, const ProcessMemory& memory,
                         SymbolFiles& files) {
  const std::string executable = executableOf(pid);
  std::string_view before;
  for (const Mapping& mapping : mappings) {
    if (mapping.path.empty() || mapping.path == before) continue;
    before = mapping.path;
    const bool library = baseName(mapping.path).starts_with("libpython");
    if (mapping.file_offset != 0 || (!library && mapping.path != executable)) continue;
    if (const PythonRuntime found = runtimeIn(files.of(pid, mapping), mapping, memory); found.address != 0)
      return found;
  }
  return {};
}

}  // namespace pitwall::record
