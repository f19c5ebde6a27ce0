// The rearrangement of an array; pushed where a kernel needs another layout.
#pragma once

#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// forward: data -> out with the layout of output_layout.
struct ReorderDesc {
  static const OperatorKind kKind;
  LayoutPtr output_layout;  // null = row-major
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ReorderDesc& a, const ReorderDesc& b) {
    return sameLayout(a.output_layout, b.output_layout);
  }
};

}  // namespace pitwall
