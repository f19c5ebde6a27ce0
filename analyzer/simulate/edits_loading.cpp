// Changes of how the program gets its batches.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

// The worst case where work moves to cores that were idle. Processors with all cores busy have a clock of 1/1.2 to
// 1/1.35 of the one that a core has alone, as their data sheets say; shared caches and memory add to it.
constexpr double kBusyMachine = 1.3;

// The worst case of operators whose threads wait for each other, where more threads than CPUs want to run: the last of them
// waits until another has been taken off its CPU. Own measurement: PyTorch with two threads beside one or two workers on two CPUs,
// whose operators took 2.2 to 2.6 times as long.
constexpr double kTeamWithoutCpus = 2.6;

// Of the time for making a batch: passing it from a worker to the program takes that long at worst, and no longer than
// making it uses a CPU, as that includes writing it. Of one published pair of traces it is 2 %.
constexpr double kPassing = 0.1;

double sumOf(const std::vector<TimeNs>& list) {
  double sum = 0;
  for (const TimeNs ns : list) sum += static_cast<double>(ns);
  return sum;
}

void scaleLoading(const Tasks& tasks, double factor, Lengths& lengths) {
  for (std::size_t i = 0; i < tasks.all.size(); ++i) {
    if ((tasks.all[i].flags & Task::kLoading) != 0) lengths.own_ns[i] = times(lengths.own_ns[i], factor);
  }
}

// Work on other CPUs at the same time slows the host's, as far as it uses any.
void contend(const Program& program, Case which, Changed& out) {
  const auto& machine = program.machine;
  const auto& tasks = program.tasks;
  const double made = sumOf(program.making.wait_ns);
  double wall = 0;
  for (const std::uint32_t mark : program.steady)
    wall += static_cast<double>(tasks.marks_ns[mark + 1] - tasks.marks_ns[mark]);
  const double busy = made / std::max(1.0, wall - made);  // workers, on average
  double worst = 1 + (kBusyMachine - 1) * std::min(1.0, busy);
  if (machine.cpus > 0) {
    const double crowd = (static_cast<double>(machine.threads) + busy) / static_cast<double>(machine.cpus);
    worst = std::max(worst, machine.threads > 1 && crowd > 1 ? std::max(crowd, kTeamWithoutCpus) : crowd);
  }
  const double factor = pick(which, 1, 1 + (worst - 1) * program.making.cpus);
  out.make_factor *= 1 + (factor - 1) * program.making.cpus;
  for (std::size_t i = 0; i < tasks.all.size(); ++i) {
    const bool of_host = program.of_engine || !tasks.all[i].isWork();
    if (of_host) out.lengths.own_ns[i] = times(out.lengths.own_ns[i], factor);
  }
}

// Batches come from a queue: the waits of the recording go, and come back as far as the queue is empty (loading.h).
void queue(const Program& program, Case which, Changed& out) {
  if (out.queued) return;
  out.queued = true;
  scaleLoading(program.tasks, 0, out.lengths);
  const auto& making = program.making;
  if (making.by == Making::By::unknown) {
    out.remaining_wait_share = pick(which, 0, 1);
    out.note(
        "Who makes the batches is not recorded: the waits for them go completely at best, and stay at "
        "worst.");
  }
  if (making.by != Making::By::training) return;
  out.note(
      "Batches are made on other CPUs at the same time. At worst the program's own work is slowed by that as "
      "it is on a "
      "processor whose cores are all busy, or that has too few for the operators' threads and the workers, "
      "and passing a batch takes a tenth of making it." +
      (making.cpus < 1
           ? fmt::format(" By the samples within the waits, making a batch uses {:.2g} CPUs at most.",
                         making.cpus)
           : std::string()));
  out.remaining_wait_share = pick(which, 0, std::min(kPassing, making.cpus));
  contend(program, which, out);
}

Status needsWaits(const Program& program, const Edit& edit) {
  return program.making.by == Making::By::none ? nothingFor(edit, "wait for a batch") : Status();
}

}  // namespace

Status applyDataWait(const Program& program, const Edit& edit, Case, Changed& out) {
  PITWALL_TRY(needsWaits(program, edit));
  scaleLoading(program.tasks, edit.value, out.lengths);
  return {};
}

Status applyWorkers(const Program& program, const Edit& edit, Case which, Changed& out) {
  PITWALL_TRY(needsWaits(program, edit));
  out.workers = static_cast<std::int64_t>(edit.value);
  queue(program, which, out);
  return {};
}

Status applyPrefetch(const Program& program, const Edit& edit, Case which, Changed& out) {
  PITWALL_TRY(needsWaits(program, edit));
  out.depth = static_cast<std::int64_t>(edit.value);
  queue(program, which, out);
  return {};
}

}  // namespace pitwall::simulate
