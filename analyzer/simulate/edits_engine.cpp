// Changes of the engine and of what its operators work on: threads, batch, bulks and workers.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

// Operators that threads of the program run.
bool isCpuOperator(const Program& program, const Task& task) {
  return task.node != Task::kNone && program.graph.nodes[task.node].kind == EventKind::operatorRun &&
         (task.flags & Task::kNoWorker) == 0;
}

bool needsWorker(const Task& task) { return task.isWork() && (task.flags & Task::kNoWorker) == 0; }

bool hasDeviceWork(const Program& program) {
  return !program.of_engine && std::any_of(program.tasks.all.begin(), program.tasks.all.end(),
                                           [](const Task& task) { return task.isWork(); });
}

template <typename Wanted>
bool scale(const Program& program, double factor, Lengths& lengths, const Wanted& wanted) {
  bool any = false;
  for (std::size_t i = 0; i < program.tasks.all.size(); ++i) {
    if (!wanted(program.tasks.all[i])) continue;
    any = true;
    lengths.own_ns[i] = times(lengths.own_ns[i], factor);
  }
  return any;
}

double per(double of, std::int64_t by) { return of / static_cast<double>(std::max<std::int64_t>(1, by)); }

}  // namespace

// Amdahl's law with an unknown serial part: between no effect and one in proportion to the CPUs that are used.
Status applyThreads(const Program& program, const Edit& edit, Case which, Changed& out) {
  const auto& machine = program.machine;
  if (hasDeviceWork(program)) return nothingFor(edit, "operators that CPUs run: a device does the work");
  if (!machine.threads_known) return nothingFor(edit, "number of threads of its operators");
  const auto now = static_cast<double>(machine.threads);
  const double cpus = machine.cpus > 0 ? static_cast<double>(machine.cpus) : std::max(now, edit.value);
  const double used_now = std::min(now, cpus), used_then = std::min(edit.value, cpus);
  const double proportional = used_now / used_then, oversubscribed = std::max(1.0, edit.value / cpus);
  const double best = std::min({1.0, proportional, cpus / std::max(now, cpus)});
  const double worst = std::max({1.0, proportional, oversubscribed});
  const auto wanted = [&program](const Task& task) { return isCpuOperator(program, task); };
  if (!scale(program, pick(which, best, worst), out.lengths, wanted)) return nothingFor(edit, "operators");
  out.note(
      "One trace does not say which part of an operator runs on all threads: the interval goes from none to "
      "all of it. "
      "Traces with other numbers of threads say more: 'pitwall analyze --trial'.");
  return {};
}

// An operator takes a fixed time and one per item; one size of batch does not distinguish them.
Status applyBatch(const Program& program, const Edit& edit, Case which, Changed& out) {
  const double factor = edit.value;
  const auto [best, worst] = std::minmax({1.0, factor});
  const auto works = [&program](const Task& task) { return task.isWork() || isCpuOperator(program, task); };
  scale(program, pick(which, best, worst), out.lengths, works);
  const auto loads = [](const Task& task) { return (task.flags & Task::kLoading) != 0; };
  scale(program, factor, out.lengths, loads);
  out.make_factor *= factor;
  out.note(
      fmt::format("An iteration then has {:.3g} times as many items, and so many times the time for making a "
                  "batch. Which part of an "
                  "operator's time depends on them is unknown: from none to all of it. The results of the "
                  "training change too.",
                  factor));
  return {};
}

// Operators of one bulk are handed to a worker together: the engine's delay comes once for them.
Status applyBulk(const Program& program, const Edit& edit, Case which, Changed& out) {
  if (!program.of_engine) return nothingFor(edit, "operators of Pitwall's engine");
  const double factor = std::max(1.0, program.operators_per_bulk) / edit.value;
  const auto [best, worst] = std::minmax({1.0, factor});
  const auto& tasks = program.tasks;
  for (std::size_t i = 0; i < tasks.links.size(); ++i) {
    const auto kind = tasks.links[i].kind;
    if (kind == LinkKind::launch || kind == LinkKind::data || kind == LinkKind::order)
      out.lengths.delay_ns[i] = times(out.lengths.delay_ns[i], pick(which, best, worst));
  }
  out.note(fmt::format(
      "The engine's delays before operators change from {:.3g} operators in a bulk to {:.0f}: from not at "
      "all to in proportion.",
      std::max(1.0, program.operators_per_bulk), edit.value));
  return {};
}

// Operators whose inputs are ready run side by side. At best each takes as long as it did, and all CPUs are in use; at
// worst they share the CPUs that one had.
Status applyEngineWorkers(const Program& program, const Edit& edit, Case which, Changed& out) {
  if (!program.of_engine) return nothingFor(edit, "operators of Pitwall's engine");
  const auto& tasks = program.tasks;
  std::set<std::uint16_t> workers;
  double work_ns = 0;
  for (const auto& task : tasks.all) {
    if (!needsWorker(task)) continue;
    workers.insert(task.resource);
    work_ns += static_cast<double>(task.own_ns);
  }
  if (workers.empty()) return nothingFor(edit, "workers: its operators run on the training thread");
  const auto& machine = program.machine;
  const double cpus = static_cast<double>(machine.cpus > 0 ? machine.cpus : machine.threads);
  const auto demand = [&](double count) {
    return std::max(1.0, count * static_cast<double>(machine.threads) / cpus);
  };
  const double shared = demand(edit.value) / demand(static_cast<double>(workers.size()));
  const auto [best, worst] = std::minmax({1.0, shared});
  scale(program, pick(which, best, worst), out.lengths, needsWorker);
  for (std::size_t i = 0; i < tasks.links.size(); ++i) {
    if (tasks.links[i].kind == LinkKind::order) out.lengths.delay_ns[i] = Lengths::kRemoved;
  }
  out.lengths.workers = static_cast<std::size_t>(edit.value);
  const auto iterations = static_cast<std::int64_t>(std::max<std::size_t>(2, tasks.marks_ns.size()) - 1);
  out.floor_ns = std::max(out.floor_ns, static_cast<TimeNs>(per(work_ns / cpus, iterations)));
  out.note(fmt::format(
      "Operators of {:.0f} workers with {} threads each share {:.0f} CPUs: from no effect on each other to "
      "as slow as that.",
      edit.value, machine.threads, cpus));
  return {};
}

}  // namespace pitwall::simulate
