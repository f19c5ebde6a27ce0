// Sums of each column of a matrix. A block of threads has some neighbouring columns and reads a few rows at a time; its
// threads add up what they have, so that few sums of parts are left even where many threads read.
//
//   struct Sum {                                        launch.columns(plan, Sum{...}) adds up the rows of each part
//     static constexpr int kSums = 1, kWidth = 8;       sums of each number, and numbers in a column
//     using Few = float;                                in which some rows are added up, before double
//     Own of(std::int64_t column) const;                what a thread needs of its column
//     Read read(std::int64_t row, std::int64_t column) const;
//     void add(const Own&, const Read&, Few (&sums)[kSums][kWidth]) const;
//     void done(std::int64_t part, std::int64_t number, const double (&sums)[kSums]) const;   number: column * kWidth + k
//   };
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/backend/gpu_kernels/launch.h"

namespace pitwall::gpu_kernels {

struct ColumnPlan {
  std::int64_t columns, rows;
  std::int64_t parts;  // of the rows; part p has the rows that some threads of one block read
  int across, down;    // threads of a block: neighbouring columns, and rows

  static constexpr int kThreads = 256;
  // Rows that a thread reads before it adds up the first: several reads are under way.
  static constexpr int kTogether = 4;

  // Blocks of at most `most_across` columns; at least `least_rows` rows for a thread where there are several parts.
  static ColumnPlan make(std::int64_t columns, std::int64_t rows, std::int64_t most_across,
                         std::int64_t least_rows, std::int64_t most_blocks) {
    ColumnPlan plan{columns, rows, 1, 1, 1};
    plan.across = static_cast<int>(std::clamp<std::int64_t>(columns, 1, most_across));
    plan.down = kThreads / plan.across;
    const std::int64_t most = std::max<std::int64_t>(most_blocks / plan.tiles(), 1);
    plan.parts = std::clamp<std::int64_t>(rows / (plan.down * least_rows), 1, most);
    return plan;
  }
  // One part: the sums of all rows.
  static ColumnPlan whole(std::int64_t columns, std::int64_t rows) { return make(columns, rows, 4, 1, 1); }

  std::int64_t tiles() const { return (columns + across - 1) / across; }
};

// The sums of all parts, of numbers whose sums of parts are at from[(sum * parts + part) * numbers + number];
// end(number, sums) gets them.
template <int kSumsOfEach, class End>
struct PartTotals {
  static constexpr int kSums = kSumsOfEach, kWidth = 1;
  using Few = double;
  std::int64_t numbers, parts;
  const double* from;
  End end;

  struct Nothing {};
  struct Read {
    double of[kSums];
  };
  PITWALL_DEVICE Nothing of(std::int64_t) const { return {}; }
  PITWALL_DEVICE Read read(std::int64_t part, std::int64_t number) const {
    Read sums;
    for (int s = 0; s < kSums; ++s) sums.of[s] = from[(s * parts + part) * numbers + number];
    return sums;
  }
  PITWALL_DEVICE void add(const Nothing&, const Read& read, double (&sums)[kSums][kWidth]) const {
    for (int s = 0; s < kSums; ++s) sums[s][0] += read.of[s];
  }
  PITWALL_DEVICE void done(std::int64_t, std::int64_t number, const double (&sums)[kSums]) const {
    end(number, sums);
  }
};

template <int kSums, class L, class End>
void totalParts(L& launch, std::int64_t numbers, std::int64_t parts, const double* from, const End& end) {
  launch.columns(ColumnPlan::whole(numbers, parts), PartTotals<kSums, End>{numbers, parts, from, end});
}

}  // namespace pitwall::gpu_kernels
