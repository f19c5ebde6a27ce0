// Whether two sides can be compared.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/compare.h"
#include "analyzer/compare/match_work.h"
#include "analyzer/compare/sides.h"

namespace pitwall::comparing {

inline constexpr std::size_t kFewestIterations = 5;  // of a run, for an interval with fewer than three runs

// `by_item` becomes true where the batches of the sides differ.
std::vector<Comparison::Aspect> aspectsOf(const Side& a, const Side& b, const Matches& matches,
                                          bool& by_item);

}  // namespace pitwall::comparing
