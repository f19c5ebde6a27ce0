// Device work by name.
#include <array>
#include <unordered_map>

#include "analyzer/analysis/achieved_occupancy.h"
#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/kernel_names.h"
#include "analyzer/analysis/samples.h"
#include "analyzer/analysis/temp_table.h"
#include "analyzer/analysis/time_chunk_analysis.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kKernelColumns[] = {
    {"device", kText, "", "'gpu 0'"},
    {"rank", kInteger, "number", "rank of the process that the device works for, from 0"},
    {"name", kText, "", "name of the kernel, copy or collective"},
    {"class", kText, "", "'computation', 'communication' or 'copy'"},
    {"count", kInteger, "count", "executions"},
    {"total_ns", kInteger, "ns", "sum of the durations"},
    {"mean_ns", kInteger, "ns", "mean duration"},
    {"min_ns", kInteger, "ns", "shortest duration"},
    {"p50_ns", kInteger, "ns", "median duration"},
    {"p99_ns", kInteger, "ns", "duration that 99 % do not exceed"},
    {"max_ns", kInteger, "ns", "longest duration"},
    {"share", kReal, "0..1", "of the time of all work of the device"},
    {"matrix", kInteger, "0 or 1", "1 = matrix product or convolution, from the name"},
    {"tensor_core", kInteger, "0 or 1",
     "1 = it uses tensor cores, 0 = it does not; null = the name does not say"},
    {"blocks", kInteger, "count", "blocks of its grid, of the last execution; null = not recorded"},
    {"threads_per_block", kInteger, "count", "threads of a block; null = not recorded"},
    {"occupancy", kReal, "0..1",
     "theoretical occupancy of the device's multiprocessors; null = not recorded"},
    {"achieved_occupancy", kReal, "0..1",
     "share of a multiprocessor's warps that were active while kernels of the name ran, by the hardware "
     "counter; null = "
     "not counted"},
};
constexpr TableDeclaration kKernelTable{
    "analysis_kernel", "A name and class of work of a device and rank, in the device's window.",
    kKernelColumns};

namespace {

struct Group {
  StringId name;
  WorkClass work = WorkClass::computation;
  std::uint32_t kernel = 0;
  Samples durations;
};

// Of a device, by name and class.
struct Groups {
  std::vector<Group> all;
  std::array<std::vector<std::uint32_t>, 3> slots;  // by class and name: index of the group, from 1
  TimeNs total_ns = 0;

  void add(const DeviceWork& work) {
    auto& of_class = slots[static_cast<std::size_t>(work.work)];
    if (work.name.value >= of_class.size()) of_class.resize(std::size_t{work.name.value} + 1, 0);
    auto& slot = of_class[work.name.value];
    if (slot == 0) {
      all.push_back({work.name, work.work, 0, {}});
      slot = static_cast<std::uint32_t>(all.size());
    }
    auto& group = all[slot - 1];
    group.durations.add(work.end_ns - work.start_ns);
    if (work.kernel != 0) group.kernel = work.kernel;
    total_ns += work.end_ns - work.start_ns;
  }
};

class Kernels final : public TimeChunkAnalysis {
 public:
  explicit Kernels(std::size_t devices) : devices_(devices) {}

  void add(const TimeChunkView& now) override {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const auto* work : now.devices[d].work) devices_[d].add(*work);
    }
  }

  Status write(Trace& trace, const Context& context) override;

 private:
  using Achieved = std::unordered_map<std::uint32_t, double>;
  static std::vector<SqlValue> rowOf(const Trace& trace, const DeviceTimes& device, const Group& group,
                                     double all, const Achieved& achieved);
  std::vector<Groups> devices_;
};

std::vector<SqlValue> Kernels::rowOf(const Trace& trace, const DeviceTimes& device, const Group& group,
                                     double all, const Achieved& achieved) {
  const auto& durations = group.durations;
  const auto total = static_cast<double>(durations.sum());
  constexpr double kQuantiles[] = {0, 0.5, 0.99, 1};
  const auto quantiles = durations.quantiles(kQuantiles);
  const auto at = [&](std::size_t i) { return static_cast<std::int64_t>(quantiles[i]); };
  const auto& name = trace.string(group.name);
  const std::optional<bool> tensor_cores = usesTensorCores(name);
  std::vector<SqlValue> row{
      device.name,
      static_cast<std::int64_t>(device.rank),
      name,
      toString(group.work),
      durations.count(),
      durations.sum(),
      static_cast<std::int64_t>(durations.mean()),
      at(0),
      at(1),
      at(2),
      at(3),
      all > 0 ? total / all : 0.0,
      static_cast<std::int64_t>(group.work == WorkClass::computation && isMatrixKernel(name)),
      known(tensor_cores.has_value(), static_cast<std::int64_t>(tensor_cores.value_or(false)))};
  const auto counted = achieved.find(group.name.value);
  const SqlValue achieved_occupancy = counted == achieved.end() ? SqlValue() : SqlValue(counted->second);
  if (group.kernel == 0 || group.kernel > trace.kernelFacts().size()) {
    row.resize(row.size() + 3);
    row.push_back(achieved_occupancy);
    return row;
  }
  const auto& facts = trace.kernelFacts()[group.kernel - 1];
  const auto product = [](const std::array<std::int32_t, 3>& a) {
    return static_cast<std::int64_t>(a[0]) * a[1] * a[2];
  };
  row.emplace_back(product(facts.grid));
  row.emplace_back(product(facts.block));
  row.push_back(known(facts.theoretical_occupancy > 0, facts.theoretical_occupancy));
  row.push_back(achieved_occupancy);
  return row;
}

Status Kernels::write(Trace& trace, const Context& context) {
  TempTable table(kKernelTable);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const DeviceTimes& device = context.devices.all[d];
    const auto achieved = PITWALL_TRY(achievedOccupancy(trace, device));
    for (const auto& group : devices_[d].all)
      table.row(rowOf(trace, device, group, static_cast<double>(devices_[d].total_ns), achieved));
  }
  return table.write(trace);
}

}  // namespace

std::unique_ptr<TimeChunkAnalysis> analyzeKernels(std::size_t devices) {
  return std::make_unique<Kernels>(devices);
}

}  // namespace pitwall::analysis
