// The list of all operators, which CMake generates from the files in runtime/operators/.
#include <algorithm>
#include <array>

#include "runtime/operators.h"

namespace pitwall {
namespace {

auto sortedKinds() {
  std::array kinds{
#define PITWALL_OPERATOR(Desc) &Desc::kKind,
#include "runtime/operators/operator_list.inc"
#undef PITWALL_OPERATOR
  };
  std::sort(kinds.begin(), kinds.end(),
            [](const OperatorKind* a, const OperatorKind* b) { return std::string_view(a->name) < b->name; });
  return kinds;
}

}  // namespace

std::span<const OperatorKind* const> operatorKinds() {
  static const auto kKinds = sortedKinds();
  return kKinds;
}

const OperatorKind* findOperatorKind(std::string_view name) {
  const auto kinds = operatorKinds();
  const auto found =
      std::lower_bound(kinds.begin(), kinds.end(), name,
                       [](const OperatorKind* kind, std::string_view wanted) { return kind->name < wanted; });
  return found != kinds.end() && (*found)->name == name ? *found : nullptr;
}

}  // namespace pitwall
