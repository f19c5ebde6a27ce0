#include "analyzer/emit/kernel_section.h"

#include <algorithm>

#include "analyzer/emit/cells.h"
#include "db/function_name.h"

namespace pitwall::emit {
namespace {

constexpr std::size_t kShownKernels = 10;

// Sums of what is not shown and of all, so that the columns add up.
std::vector<std::string> sumOf(std::string title, const std::vector<KernelRow>& kernels, std::size_t from) {
  std::int64_t count = 0;
  TimeNs total = 0;
  double part = 0;
  for (std::size_t i = from; i < kernels.size(); ++i) {
    count += kernels[i].count;
    total += kernels[i].total_ns;
    part += kernels[i].share;
  }
  return {std::move(title), fmt::format("{}", count), showDuration(static_cast<double>(total)), "", "",
          showShare(part)};
}

}  // namespace

void writeKernelSection(const std::vector<KernelRow>& kernels, Emitter& emitter) {
  Table table{{{"name", ""},
               {"", "kernel or copy"},
               {"class", ""},
               {"count", "count", Align::right},
               {"total_ns", "total", Align::right},
               {"mean_ns", "mean", Align::right, true, true},
               {"max_ns", "max", Align::right, true, true},
               {"share", "share", Align::right}}};
  table.text_rows = kShownKernels;
  table.gap = 1;
  for (const auto& row : kernels) {
    table.rows.push_back({jsonOnly(row.name),
                          textOnly(shortName(row.name)),
                          jsonOnly(row.work),
                          {row.count, fmt::format("{}", row.count)},
                          duration(row.total_ns),
                          duration(row.mean_ns),
                          duration(row.max_ns),
                          share(row.share)});
  }
  const auto shown = std::min(kShownKernels, kernels.size());
  table.rest =
      sumOf(plural(static_cast<std::int64_t>(kernels.size() - shown), "other", "others"), kernels, shown);
  table.footer = sumOf("total", kernels, 0);
  if (!kernels.empty()) emitter.heading("KERNELS AND COPIES on devices, by total time");
  emitter.table("kernels", "", table);
}

}  // namespace pitwall::emit
