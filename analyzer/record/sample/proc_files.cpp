#include "analyzer/record/sample/proc_files.h"

#include <algorithm>
#include <array>

#include "db/openmp_runtime.h"
#include "db/proc_files.h"

namespace pitwall::record {
namespace {

constexpr int kMaxNodes = 1024;

std::string_view takeLine(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

std::optional<StatLine> parseStat(std::string_view text) {
  // "pid (name) state parent ...": a name may contain blanks and brackets, so the last bracket ends it.
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open || close + 4 > text.size()) return std::nullopt;
  StatLine stat;
  stat.name = std::string(text.substr(open + 1, close - open - 1));
  stat.state = text[close + 2];
  std::string_view rest = text.substr(close + 3);
  constexpr std::size_t kNeeded = 36;     // fields 4 (parent) to 39 (cpu) of proc(5)
  std::array<std::int64_t, 48> fields{};  // to 51 (end of the environment), which kernels since 3.5 have
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto number = host::takeNumber(rest);
    if (!number) {
      // Unsigned values above the signed range (addresses and limits) are not used here.
      const std::size_t blank = rest.find(' ', 1);
      if (blank == rest.npos) {
        if (i < kNeeded) return std::nullopt;
        break;
      }
      rest.remove_prefix(blank);
      continue;
    }
    fields[i] = *number;
  }
  const auto at = [&fields](std::size_t number) { return fields[number - 4]; };
  stat.parent = static_cast<pid_t>(at(4));
  stat.minor_faults = at(10);
  stat.major_faults = at(12);
  stat.kernel_ticks = at(15);
  stat.children_ticks = at(16) + at(17);
  stat.threads = at(20);
  stat.start_ticks = at(22);
  stat.resident_pages = at(24);
  // Program code, stack, begin and end of the environment: without random addresses the first two may stay the same.
  for (const std::size_t field : {26U, 28U, 50U, 51U})
    stat.image = stat.image * 31 + static_cast<std::uint64_t>(at(field));
  stat.cpu = static_cast<int>(at(39));
  return stat;
}

std::optional<SchedStat> parseSchedStat(std::string_view text) {
  const auto run = host::takeNumber(text), wait = host::takeNumber(text), timeslices = host::takeNumber(text);
  if (!run || !wait || !timeslices) return std::nullopt;
  return SchedStat{*run, *wait, *timeslices};
}

std::vector<std::string> splitNul(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

namespace {

enum class Blas : std::size_t { mkl, openblas, blis, atlas, reference, count };
constexpr std::array<std::string_view, static_cast<std::size_t>(Blas::count)> kBlasNames = {
    "mkl", "openblas", "blis", "atlas", "reference"};

// Of a mapped file "/FOLDER/FILE"; count = none. By the file's name: "libmkl_rt.so.2",
// "libopenblasp-r0.3.21.so", "libscipy_openblas64_-ff651d7f.so", "libblis-mt.so.4". For one named libblas the
// folder decides: Debian has "openblas-pthread/libblas.so.3", and the reference implementation in
// "blas/libblas.so.3.11.0".
Blas blasOfFile(std::string_view folder, std::string_view file) {
  const auto in = [&file](std::string_view part) { return file.find(part) != file.npos; };
  if (in("libmkl_")) return Blas::mkl;
  if (in("openblas")) return Blas::openblas;
  if (in("libblis")) return Blas::blis;
  if (in("libatlas") || in("libsatlas") || in("libtatlas")) return Blas::atlas;
  if (in("librefblas")) return Blas::reference;
  if (!file.starts_with("libblas.so") && !file.starts_with("libblas-")) return Blas::count;
  const std::string_view last = folder.substr(folder.rfind('/') + 1);
  if (last.starts_with("openblas")) return Blas::openblas;
  if (last.starts_with("blis")) return Blas::blis;
  if (last.starts_with("atlas")) return Blas::atlas;
  return last.find("mkl") != last.npos ? Blas::mkl : Blas::reference;
}

// PyTorch's packages for x86 contain MKL within libtorch_cpu.so; an OpenBLAS beside it belongs to NumPy or
// SciPy.
bool carriesMkl(std::string_view folder, std::string_view file) {
#if defined(__x86_64__)
  return file == "libtorch_cpu.so" && folder.ends_with("-packages/torch/lib");
#else
  (void)folder, (void)file;
  return false;
#endif
}

}  // namespace

std::string blasOf(std::string_view maps) {
  std::array<bool, static_cast<std::size_t>(Blas::count) + 1> found{};
  while (!maps.empty()) {
    const std::string_view line = takeLine(maps);
    const std::size_t slash = line.rfind('/'), begin = line.find('/');
    if (slash == line.npos) continue;
    const std::string_view file = line.substr(slash + 1), folder = line.substr(begin, slash - begin);
    if (!file.starts_with("lib") || file.find(".so") == file.npos) continue;
    found[static_cast<std::size_t>(carriesMkl(folder, file) ? Blas::mkl : blasOfFile(folder, file))] = true;
  }
  for (std::size_t i = 0; i < kBlasNames.size(); ++i) {
    if (found[i]) return std::string(kBlasNames[i]);
  }
  return {};
}

std::string openMpRuntimesOf(std::string_view maps) {
  host::OpenMpRuntimes runtimes;
  while (!maps.empty()) {
    const std::string_view line = takeLine(maps);
    if (const std::size_t slash = line.find('/'); slash != line.npos) runtimes.add(line.substr(slash));
  }
  return runtimes.names();
}

std::vector<std::int64_t> numaPages(std::string_view numa_maps) {
  std::vector<std::int64_t> pages;
  for (std::size_t at = 0; (at = numa_maps.find(" N", at)) != numa_maps.npos; at += 2) {
    std::string_view rest = numa_maps.substr(at + 2);
    const auto node = host::takeNumber(rest);
    if (!node || *node < 0 || *node >= kMaxNodes || rest.empty() || rest.front() != '=') continue;
    rest.remove_prefix(1);
    const auto count = host::takeNumber(rest);
    if (!count) continue;
    const auto index = static_cast<std::size_t>(*node);
    if (pages.size() <= index) pages.resize(index + 1);
    pages[index] += *count;
  }
  return pages;
}

}  // namespace pitwall::record
