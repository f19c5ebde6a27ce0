#include "analyzer/record/stacks/symbols.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

namespace pitwall::record {
namespace {

constexpr std::size_t kMostKnownPlaces = 1 << 18;

bool sameMappings(const std::vector<Mapping>& a, const std::vector<Mapping>& b) {
  return std::ranges::equal(a, b, [](const Mapping& x, const Mapping& y) {
    return x.begin == y.begin && x.end == y.end && x.device == y.device && x.inode == y.inode &&
           x.path == y.path;
  });
}

// Names of files are those that the process sees where it has its own mounts, as in a container; after chroot() alone they
// are ours.
std::string readablePath(pid_t pid, const Mapping& mapping) {
  std::string seen_by_process = fmt::format("/proc/{}/root{}", pid, mapping.path);
  struct stat about {};
  const auto isIt = [&](const std::string& path) {
    return ::stat(path.c_str(), &about) == 0 && about.st_ino == mapping.inode;
  };
  return !isIt(seen_by_process) && isIt(mapping.path) ? mapping.path : seen_by_process;
}

}  // namespace

const ElfFile* SymbolFiles::of(pid_t pid, const Mapping& mapping) {
  const auto [found, fresh] = files_.try_emplace(Key(mapping.device, mapping.inode, mapping.path));
  if (fresh) {
    auto file = ElfFile::open(readablePath(pid, mapping));
    if (file.has_value()) found->second = std::move(*file);
  }
  return found->second ? &*found->second : nullptr;
}

bool Symbols::refresh(std::vector<Mapping> mappings) {
  std::erase_if(mappings, [](const Mapping& mapping) { return !mapping.executable; });
  if (sameMappings(mappings, mappings_)) return false;
  mappings_ = std::move(mappings);
  known_.clear();
  return true;
}

std::optional<std::uint32_t> Symbols::frameAt(Address at) {
  if (const auto known = known_.find(at); known != known_.end()) return known->second;
  const Mapping* mapping = mappingAt(mappings_, at);
  if (mapping == nullptr || mapping->path.empty()) return std::nullopt;
  const std::uint64_t offset = at - mapping->begin + mapping->file_offset;
  const std::string library = mapping->path.substr(mapping->path.rfind('/') + 1);
  FrameInfo frame{.function = "", .file = mapping->path, .line = 0, .language = "native"};
  if (const ElfFile* file = files_.of(pid_, *mapping)) {
    if (const auto address = file->addressOf(offset)) frame.function = file->functionAt(*address);
  }
  // Without symbols a library is one function: single addresses would not add up to anything.
  if (frame.function.empty()) frame.function = fmt::format("[{}]", library);
  const std::uint32_t number = frames_.number(frame);
  if (known_.size() >= kMostKnownPlaces) known_.clear();
  known_.emplace(at, number);
  return number;
}

}  // namespace pitwall::record
