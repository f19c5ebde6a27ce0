#include "db/import/other_files.h"

#include <fmt/format.h>

namespace pitwall::import {
namespace {

// A path as an argument of a shell's command line.
std::string asArgument(std::string_view path) {
  if (path.find_first_of(" '\"\\$`&;|<>()*?[]#~!\t\n") == std::string_view::npos && !path.empty())
    return std::string(path);
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Compressed in a way that is not read.
std::string compressedFile(std::string_view start, std::string_view path) {
  struct Tool {
    std::string_view start;
    const char* name;
    const char* command;
  };
  constexpr Tool kTools[] = {{"7z\xBC\xAF\x27\x1C", "a 7z archive", "7z x"},
                             {"Rar!\x1A\x07", "a rar archive", "unrar x"},
                             {"\x04\x22\x4D\x18", "compressed with lz4", "lz4 -d"}};
  const bool bzip2 = start.starts_with("BZh") && start.substr(4, 6) == "1AY&SY";
  if (bzip2)
    return fmt::format("is compressed with bzip2, which is not read; unpack it: bunzip2 --keep {}",
                       asArgument(path));
  for (const Tool& tool : kTools) {
    if (start.starts_with(tool.start))
      return fmt::format("is {}, which is not read; unpack it: {} {}", tool.name, tool.command,
                         asArgument(path));
  }
  return {};
}

}  // namespace

std::string otherFile(std::string_view start, std::string_view path) {
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
    return fmt::format(
        "is a report of Nsight Systems, whose format is closed; convert it: nsys export --type "
        "sqlite {}",
        asArgument(path));
  if (path.ends_with(".ncu-rep") || start.starts_with(std::string_view("NVR\0", 4)))
    return fmt::format(
        "is a report of Nsight Compute: counters of single kernels without a timeline, which are "
        "not read. As text: ncu --import {} --page raw --csv; for a timeline record with nsys "
        "profile",
        asArgument(path));
  if (start.starts_with("PERFILE2"))
    return fmt::format("is a recording of perf; its text can be read: perf script -F +pid -i {} > perf.txt",
                       asArgument(path));
  if (start.starts_with(std::string_view("PK\x05\x06", 4))) return "is a zip archive without files";
  const bool pickle = start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
  if (pickle)
    return "is a Python pickle, which is not read: unpickling can run any code. Of pickles only memory "
           "snapshots of PyTorch are read, as data";
  return compressedFile(start, path);
}

}  // namespace pitwall::import
