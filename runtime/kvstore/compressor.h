// Compression of the arrays of a push.
#pragma once

#include <span>

#include "runtime/kvstore/entry.h"

namespace pitwall::kvstore {

class Compressor {
 public:
  // Errors: invalidInput for another type or threshold.
  Status set(const StoreCompression& compression);
  bool isActive() const { return active_; }

  // Pushes the compression of each value on its device, and `into` := the sum of what was sent, row-major.
  Status reduce(Entry& entry, const SumOptions& options, std::span<const Value> values, const Value& into,
                int priority) const;

  // The two halves, for codes that travel: pushes the compression of a row-major value, and returns the array of its codes.
  // Errors: those of its device's backend.
  Result<Value> compress(Entry& entry, const SumOptions& options, const Value& value, int priority) const;
  // Pushes `into` := the sum of so many arrays of codes, which `all` has one after the other; both on the CPU.
  void decompress(Entry& entry, const SumOptions& options, const Value& all, int count, const Value& into,
                  int priority) const;

 private:
  Result<Value> compressPlace(Entry& entry, const SumOptions& options, const Value& value, std::size_t place,
                              int priority) const;
  bool active_ = false;
  float threshold_ = 0.5F;
};

}  // namespace pitwall::kvstore
