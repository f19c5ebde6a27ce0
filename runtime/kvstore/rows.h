// Sums and copies of some rows of a key.
#pragma once

#include <span>

#include "runtime/kvstore/entry.h"

namespace pitwall::kvstore {

// Errors: invalidInput naming the key for arrays of another shape, type or device kind, and for rows that the key does not have.
Status checkRows(const Entry& entry, std::span<const StoreRows> all);

// Pushes `into` := zeros, plus the rows. Row-major.
Status pushRowSum(Entry& entry, const SumOptions& options, std::span<const StoreRows> values,
                  const Value& into, int priority);

// Pushes output.values := rows of `from`, which is row-major.
void pushRowCopy(Entry& entry, const Value& from, const StoreRows& output, int priority);

}  // namespace pitwall::kvstore
