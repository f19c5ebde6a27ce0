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

std::string jsonFile(std::string_view start) {
  const auto has = [&](std::string_view what) { return start.find(what) != std::string_view::npos; };
  if (!start.starts_with('{') || has("\"traceEvents\"")) return {};
  if (has("speedscope.app/file-format-schema"))
    return "is a profile of speedscope: sampled call stacks, which are not read";
  if (has("\"schema\"") && has("chakra"))
    return "is an execution trace of PyTorch: the order of operators without times; import the profile that "
           "torch.profiler wrote with it (export_chrome_trace)";
  if (has("\"rocprofiler-sdk-tool\""))
    return "is the JSON of rocprofv3, which is not read; record with rocprofv3 --output-format rocpd, or "
           "convert its database";
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
    return fmt::format(
        "is a recording of perf: samples of call stacks, which are not read. As text: perf script "
        "-i {}",
        asArgument(path));
  if (start.starts_with(std::string_view("PK\x05\x06", 4))) return "is a zip archive without files";
  const bool pickle = start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
  if (pickle)
    return "is a Python pickle (a memory snapshot of PyTorch?), which is not read: unpickling can run any "
           "code";
  return jsonFile(start);
}

}  // namespace pitwall::import
