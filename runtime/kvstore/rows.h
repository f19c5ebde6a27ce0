// Sums and copies of some rows of a key.
#pragma once

#include <span>

#include "runtime/kvstore/entry.h"

namespace pitwall::kvstore {

// Errors: invalidInput naming the key for arrays of another shape or type, and for rows that the key does not have.
Status checkRows(const Entry& entry, std::span<const StoreRows> all);

// Pushes `into` := zeros, plus the rows. Row-major.
Status pushRowSum(Entry& entry, const SumOptions& options, std::span<const StoreRows> values,
                  const Value& into, int priority);

// Pushes output.values := rows of `stored`, for each output.
Status pushRowCopies(Entry& entry, const Value& stored, std::span<const StoreRows> outputs, int priority);

}  // namespace pitwall::kvstore
