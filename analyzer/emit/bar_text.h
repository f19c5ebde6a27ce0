// A bar in formats that have only characters.
#pragma once

#include <string>

#include "analyzer/emit/emitter.h"

namespace pitwall::emit {

// As many '#' as the share has of 30.
inline std::string barText(double share) {
  constexpr double kColumns = 30;
  return std::string(static_cast<std::size_t>(share * kColumns + 0.5), '#');
}

inline std::string textOf(const Cell& cell) { return cell.bar ? barText(*cell.bar) : cell.text; }

}  // namespace pitwall::emit
