// Device work by name. Matrix products and the use of tensor cores are told from the names that cuBLAS,
// cuDNN, cutlass, Tensile and Triton give; what no pattern knows is null, never "unused".
#include <algorithm>
#include <array>
#include <initializer_list>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/statistics.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

bool containsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool isMatrix(std::string_view name) {
  return containsAny(name, {"gemm", "Gemm", "GEMM", "Cijk_", "conv", "wgrad", "dgrad", "implicit_",
                            "cutlass::Kernel", "winograd"});
}

SqlValue usesTensorCores(std::string_view name) {
  if (containsAny(name, {"s884", "h884", "s1688", "h1688", "16816", "161616", "xmma", "wgmma", "hmma",
                         "tensorop", "MI16x16", "MI32x32", "imma", "warpgroup"}))
    return std::int64_t{1};
  if (containsAny(name, {"sgemm", "simt", "scudnn", "volta_sgemm", "maxwell_", "ffma"}))
    return std::int64_t{0};
  return {};
}

struct Group {
  StringId name;
  WorkClass work = WorkClass::computation;
  std::uint32_t kernel = 0;
  std::vector<double> durations;
};

// By name and class.
std::vector<Group> groupsOf(const DeviceTimes& device, double& all) {
  std::vector<Group> groups;
  std::array<std::vector<std::uint32_t>, 3> slots;  // by class and name: index of the group, from 1
  for (const auto* work : device.work) {
    auto& of_class = slots[static_cast<std::size_t>(work->work)];
    if (work->name.value >= of_class.size()) of_class.resize(std::size_t{work->name.value} + 1, 0);
    auto& slot = of_class[work->name.value];
    if (slot == 0) {
      groups.push_back({work->name, work->work, 0, {}});
      slot = static_cast<std::uint32_t>(groups.size());
    }
    auto& group = groups[slot - 1];
    const auto duration = static_cast<double>(work->end_ns - work->start_ns);
    group.durations.push_back(duration);
    if (work->kernel != 0) group.kernel = work->kernel;
    all += duration;
  }
  return groups;
}

}  // namespace

Status writeKernels(Trace& trace, const Context& context) {
  TempTable table(
      "analysis_kernel",
      "device TEXT, rank INTEGER, name TEXT, class TEXT, count INTEGER, total_ns INTEGER, mean_ns INTEGER, "
      "min_ns INTEGER, p50_ns INTEGER, p99_ns INTEGER, max_ns INTEGER, share REAL, matrix INTEGER, "
      "tensor_core INTEGER, blocks INTEGER, threads_per_block INTEGER, occupancy REAL");
  for (const auto& device : context.devices.all) {
    double all = 0;
    for (auto& group : groupsOf(device, all)) {
      auto& durations = group.durations;
      double total = 0;
      for (const double d : durations) total += d;
      constexpr double kQuantiles[] = {0, 0.5, 0.99, 1};
      const auto quantiles = quantilesOf(durations, kQuantiles);
      const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(quantiles[i]); };
      const auto& name = trace.string(group.name);
      std::vector<SqlValue> row{
          device.name,
          static_cast<std::int64_t>(device.rank),
          name,
          toString(group.work),
          static_cast<std::int64_t>(durations.size()),
          static_cast<std::int64_t>(total),
          static_cast<std::int64_t>(total / static_cast<double>(durations.size())),
          at(0),
          at(1),
          at(2),
          at(3),
          all > 0 ? total / all : 0.0,
          static_cast<std::int64_t>(group.work == WorkClass::computation && isMatrix(name)),
          usesTensorCores(name)};
      if (group.kernel != 0 && group.kernel <= trace.kernelFacts().size()) {
        const auto& facts = trace.kernelFacts()[group.kernel - 1];
        const auto product = [](const std::array<std::int32_t, 3>& a) {
          return static_cast<std::int64_t>(a[0]) * a[1] * a[2];
        };
        row.emplace_back(product(facts.grid));
        row.emplace_back(product(facts.block));
        row.push_back(known(facts.theoretical_occupancy > 0, facts.theoretical_occupancy));
      } else {
        row.resize(row.size() + 3);
      }
      table.row(std::move(row));
    }
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
