// Shape, element type and layout of an array, without its data.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "db/check.h"
#include "db/units.h"

namespace pitwall {

enum class DType : std::uint8_t { float32, float16, bfloat16, int32, int8, uint8 };
const char* toString(DType dtype);
Bytes sizeOf(DType dtype);

// Up to 6 extents, outermost first. Rank 0 is a scalar of one element.
class Shape {
 public:
  static constexpr int kMaxRank = 6;
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) {
    PITWALL_CHECK(extents.size() <= kMaxRank, "rank %zu", extents.size());
    for (std::int64_t e : extents) extents_[static_cast<std::size_t>(rank_++)] = e;
  }
  int rank() const { return rank_; }
  std::int64_t operator[](int i) const { return extents_[static_cast<std::size_t>(i)]; }
  void append(std::int64_t extent) {
    PITWALL_CHECK(rank_ < kMaxRank, "rank %d", rank_);
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= (*this)[i];
    return n;
  }
  std::string toString() const;  // "64x1x28x28"; "scalar" for rank 0
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

// How a backend arranged an array's elements when not row-major; immutable, shared, compared by the backend
// that made it. A null pointer is dense row-major.
class Layout {
 public:
  virtual ~Layout() = default;
  virtual Bytes sizeBytes() const = 0;       // with padding
  virtual std::string toString() const = 0;  // "aBcd16b"
  virtual bool equals(const Layout& other) const = 0;
  // n where the array is [batch][channels / n][pixels][n], the last channels padded: n of axis 1 side by side. All of them where it is
  // [batch][pixels][channels]. 0: arranged otherwise.
  virtual std::int64_t channelsTogether() const { return 0; }
  // The same arrangement of elements of another type; null where there is none: arrays of that type are row-major.
  virtual std::shared_ptr<const Layout> ofType(DType /*type*/) const { return nullptr; }
};
using LayoutPtr = std::shared_ptr<const Layout>;

bool sameLayout(const LayoutPtr& a, const LayoutPtr& b);

inline LayoutPtr layoutOfType(const LayoutPtr& layout, DType type) {
  return layout != nullptr ? layout->ofType(type) : nullptr;
}

struct TensorSpec {
  Shape shape;
  DType dtype = DType::float32;
  LayoutPtr layout = nullptr;  // null = row-major
  Bytes sizeBytes() const { return layout ? layout->sizeBytes() : shape.elements() * sizeOf(dtype); }
  friend bool operator==(const TensorSpec& a, const TensorSpec& b) {
    return a.shape == b.shape && a.dtype == b.dtype && sameLayout(a.layout, b.layout);
  }
};

}  // namespace pitwall
