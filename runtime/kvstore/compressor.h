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

 private:
  bool active_ = false;
  float threshold_ = 0.5F;
};

}  // namespace pitwall::kvstore
