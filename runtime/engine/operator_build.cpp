#include "runtime/engine/operator_build.h"

#include <algorithm>
#include <functional>

#include "db/check.h"

namespace pitwall::engine {
namespace {

constexpr CorrelationId kIdsPerBlock = 1024;
std::atomic<CorrelationId> next_block{1};

struct IdBlock {
  CorrelationId next = 0;
  CorrelationId end = 0;
};
constinit thread_local IdBlock ids;

bool variableLess(const Access& a, const Access& b) { return std::less<>{}(a.variable, b.variable); }

void insertionSort(std::span<Access> uses) {
  for (std::size_t i = 1; i < uses.size(); ++i) {
    if (!variableLess(uses[i], uses[i - 1])) continue;
    const Access moved = uses[i];
    std::size_t at = i;
    for (; at > 0 && variableLess(moved, uses[at - 1]); --at) uses[at] = uses[at - 1];
    uses[at] = moved;
  }
}

// Precondition: sorted.
std::uint32_t mergeEqual(std::span<Access> uses) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < uses.size(); ++i) {
    if (uses[i].variable == uses[last].variable) {
      uses[last].writes |= uses[i].writes;
      uses[last].reads |= uses[i].reads;
    } else if (++last != i) {
      uses[last] = uses[i];
    }
  }
  return static_cast<std::uint32_t>(last + 1);
}

bool leavesWorkOnGpu(const OperatorDesc& desc) {
  return desc.device.kind == DeviceKind::gpu && desc.operator_class != OperatorClass::deletion &&
         desc.operator_class != OperatorClass::inlineAsync && desc.run;
}

}  // namespace

CorrelationId nextCorrelation() {
  if (ids.next == ids.end) {
    ids.next = next_block.fetch_add(kIdsPerBlock, std::memory_order_relaxed);
    ids.end = ids.next + kIdsPerBlock;
  }
  return ids.next++;
}

void addAccess(Operator& op, Variable variable, bool write) {
  PITWALL_CHECK(variable.state != nullptr, "an operator uses a variable that newVariable() did not make");
  op.accesses[op.access_count++] = {variable.state, nullptr, &op, write ? 1U : 0U, !write};
}

void sortAccesses(Operator& op) {
  if (op.access_count < 2) return;
  constexpr std::uint32_t kFew = 32;
  if (op.access_count <= kFew) {
    insertionSort(op.uses());
  } else {
    std::sort(op.uses().begin(), op.uses().end(), variableLess);
  }
  op.access_count = mergeEqual(op.uses());
}

Operator& buildOperator(OperatorCache& cache, OperatorDesc& desc, BuildOptions options) {
  Operator& op = cache.take(desc.reads.size() + desc.writes.size());
  op.child = nullptr;
  op.access_count = 0;
  op.correlation = nextCorrelation();
  op.ready = 0;
  op.pushed = options.recording ? Profiler::now() : 0;
  op.facts = desc.facts;
  op.device_index = desc.device.index;
  op.device_kind = desc.device.kind;
  op.priority = desc.priority;
  const bool ends_later = desc.run.completesLater() || (options.gpu_ends_later && leavesWorkOnGpu(desc));
  op.kind = ends_later ? NodeKind::later : NodeKind::single;
  op.operator_class = desc.operator_class;
  op.ends_variable = false;
  op.function = std::move(desc.run);
  for (const Variable variable : desc.writes) addAccess(op, variable, true);
  for (const Variable variable : desc.reads) addAccess(op, variable, false);
  sortAccesses(op);
  if (!isValid(desc.device)) [[unlikely]] {
    op.device_index = 0;
    op.kind = NodeKind::single;
    op.function = [device = desc.device](const RunContext&) { return checkDevice(device); };
  }
  return op;
}

}  // namespace pitwall::engine
