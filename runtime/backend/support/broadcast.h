// Shapes of two arrays that are combined element by element, as NumPy does: aligned at the last axis; where one has extent
// 1, or no such axis, its elements repeat.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/tensor.h"

namespace pitwall {

// Empty when they do not combine.
inline std::optional<Shape> broadcastShape(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out;
  for (int i = 0; i < rank; ++i) {
    const int at_a = i - (rank - a.rank()), at_b = i - (rank - b.rank());
    const std::int64_t x = at_a < 0 ? 1 : a[at_a], y = at_b < 0 ? 1 : b[at_b];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out.append(x == 1 ? y : x);
  }
  return out;
}

// Row-major arrays a and b as a loop over the output visits them. Neighbouring axes that both step through alike are one.
struct Broadcast {
  struct Axis {
    std::int64_t count, a, b;  // steps, and how far a and b go with each
  };
  std::array<Axis, Shape::kMaxRank> axes{};  // outermost first
  int rank = 0;

  // Precondition: they combine to `out`.
  Broadcast(const Shape& of_a, const Shape& of_b, const Shape& out) {
    std::array<Axis, Shape::kMaxRank> all{};
    std::int64_t step_a = 1, step_b = 1;
    for (int i = out.rank() - 1; i >= 0; --i) {
      const int at_a = i - (out.rank() - of_a.rank()), at_b = i - (out.rank() - of_b.rank());
      const std::int64_t x = at_a < 0 ? 1 : of_a[at_a], y = at_b < 0 ? 1 : of_b[at_b];
      all[static_cast<std::size_t>(i)] = {out[i], x == 1 ? 0 : step_a, y == 1 ? 0 : step_b};
      step_a *= x;
      step_b *= y;
    }
    for (int i = 0; i < out.rank(); ++i) {
      const Axis& next = all[static_cast<std::size_t>(i)];
      if (next.count == 1) continue;
      if (rank > 0) {
        Axis& last = axes[static_cast<std::size_t>(rank - 1)];
        if (last.a == next.a * next.count && last.b == next.b * next.count) {
          last = {last.count * next.count, next.a, next.b};
          continue;
        }
      }
      axes[static_cast<std::size_t>(rank++)] = next;
    }
    if (rank == 0) axes[static_cast<std::size_t>(rank++)] = {1, 0, 0};
  }

  // Of the innermost axis: the elements of the output that follow each other.
  const Axis& inner() const { return axes[static_cast<std::size_t>(rank - 1)]; }
  std::int64_t rows() const {
    std::int64_t n = 1;
    for (int i = 0; i + 1 < rank; ++i) n *= axes[static_cast<std::size_t>(i)].count;
    return n;
  }
  struct Place {
    std::int64_t a, b;
  };
  // Where a row begins in a and b.
  Place row(std::int64_t index) const {
    Place place{0, 0};
    for (int i = rank - 2; i >= 0; --i) {
      const Axis& axis = axes[static_cast<std::size_t>(i)];
      place.a += index % axis.count * axis.a;
      place.b += index % axis.count * axis.b;
      index /= axis.count;
    }
    return place;
  }
};

}  // namespace pitwall
