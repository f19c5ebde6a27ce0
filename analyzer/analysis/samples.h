// Integers with exact quantiles: each distinct one is stored once, with its count. Repeated
// work takes about the same time each time, so that there are few distinct values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pitwall::analysis {

class Samples {
 public:
  void add(std::int64_t value);

  bool empty() const { return count_ == 0; }
  std::int64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }
  double mean() const;  // 0 for none
  // The q-quantiles (0..1, ascending) with linear interpolation between neighbours; 0 for none.
  std::vector<double> quantiles(std::span<const double> ascending) const;
  double quantile(double q) const;

 private:
  struct Slot {
    std::int64_t value = 0, count = 0;  // 0: free
  };
  Slot& find(std::int64_t value);
  void grow();

  std::vector<Slot> slots_;  // a hash table; a power of two of them
  std::size_t distinct_ = 0;
  std::int64_t count_ = 0, sum_ = 0;
};

}  // namespace pitwall::analysis
