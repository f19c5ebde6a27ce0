// Changes of how devices get their work.
#include <algorithm>

#include "analyzer/analysis/activity.h"
#include "analyzer/simulate/edits.h"
#include "db/try.h"

namespace pitwall::simulate {
namespace {

using analysis::Node;

const Node* nodeOf(const Program& program, std::uint32_t task) {
  const auto node = program.tasks.all[task].node;
  return node == Task::kNone ? nullptr : &program.graph.nodes[node];
}

bool isCopyToDevice(const Program& program, const Node* node) {
  return node != nullptr && node->kind == EventKind::copy &&
         program.titleOf({}, node->name).find("HtoD") != std::string::npos;
}

// The call that launched the work waited for it.
bool isOwnCall(const Node& call, const Node& work) {
  return call.resource == work.asked_on && call.start_ns == work.asked_ns;
}

}  // namespace

// A kernel starts some time after its call began, of which the call is a part.
Status applyLaunch(const Program& program, const Edit& edit, Case, Changed& out) {
  const auto& tasks = program.tasks;
  bool any = false;
  for (std::uint32_t i = 0; i < tasks.all.size(); ++i) {
    const auto* node = nodeOf(program, i);
    if (node == nullptr || tasks.all[i].isWork() || (node->meaning & analysis::kLaunches) == 0) continue;
    any = true;
    out.lengths.own_ns[i] = times(out.lengths.own_ns[i], edit.value);
  }
  if (!any) return nothingFor(edit, "calls that launch device work");
  for (std::uint32_t i = 0; i < tasks.all.size(); ++i) {
    const auto* work = nodeOf(program, i);
    if (work == nullptr || !tasks.all[i].isWork()) continue;
    for (const auto& link : tasks.linksOf(i)) {
      if (link.kind != LinkKind::launch) continue;
      auto& delay = out.lengths.delay_ns[static_cast<std::size_t>(&link - tasks.links.data())];
      delay = times(delay, edit.value);
    }
  }
  return {};
}

// Copies to a device on a separate stream, from pinned memory. At best they are behind the kernels, and an iteration
// takes as long as they do together at least; at worst their stream does not change, and only the host goes on.
Status applyCopies(const Program& program, const Edit& edit, Case which, Changed& out) {
  const auto& tasks = program.tasks;
  TimeNs copying = 0;
  for (std::uint32_t i = 0; i < tasks.all.size(); ++i) {
    for (const auto& link : tasks.linksOf(i)) {
      const auto *call = nodeOf(program, i), *work = nodeOf(program, link.from);
      if (link.kind == LinkKind::release && isCopyToDevice(program, work) && call != nullptr &&
          isOwnCall(*call, *work))
        out.lengths.delay_ns[static_cast<std::size_t>(&link - tasks.links.data())] = Lengths::kRemoved;
    }
    if (!tasks.all[i].isWork() || !isCopyToDevice(program, nodeOf(program, i))) continue;
    copying += out.lengths.own_ns[i];
    out.lengths.own_ns[i] = times(out.lengths.own_ns[i], pick(which, 0, 1));
  }
  if (copying == 0) return nothingFor(edit, "copies to a device");
  const auto iterations = static_cast<TimeNs>(std::max<std::size_t>(2, tasks.marks_ns.size()) - 1);
  out.floor_ns = std::max(out.floor_ns, copying / iterations);
  out.note(
      "Copies to the device overlap with its kernels at best; at worst they only block the host no longer. "
      "Whether a kernel "
      "needs what is copied just before it is not recorded.");
  return {};
}

}  // namespace pitwall::simulate
