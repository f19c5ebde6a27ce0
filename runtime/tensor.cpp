#include "runtime/tensor.h"

namespace pitwall {

const char* toString(DType dtype) {
  switch (dtype) {
    case DType::float32: return "float32";
    case DType::float16: return "float16";
    case DType::bfloat16: return "bfloat16";
    case DType::int32: return "int32";
    case DType::int8: return "int8";
    case DType::uint8: return "uint8";
  }
  return "unknown";
}

Bytes sizeOf(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::int32: return 4;
    case DType::float16:
    case DType::bfloat16: return 2;
    case DType::int8:
    case DType::uint8: return 1;
  }
  return 0;
}

std::string Shape::toString() const {
  if (rank_ == 0) return "scalar";
  std::string text;
  for (int i = 0; i < rank_; ++i) text += (i == 0 ? "" : "x") + std::to_string((*this)[i]);
  return text;
}

bool sameLayout(const LayoutPtr& a, const LayoutPtr& b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && a->equals(*b);
}

}  // namespace pitwall
