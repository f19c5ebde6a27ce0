// Whether two operators are the same one with another batch, from their shapes.
#pragma once

#include <string>
#include <string_view>

namespace pitwall::comparing {

// The batches of two runs, or anything that relates as they do.
struct BatchRatio {
  double a = 0, b = 0;
  bool isKnown() const { return a > 0 && b > 0 && a != b; }
};

// "64x1x28x28,20x1x5x5->64x20x24x24" and the same with 32: "Nx1x28x28,20x1x5x5->Nx20x24x24". Every number
// that differs must differ as the batches do (a flattened dimension, batch times channels, does too); empty
// when the shapes differ in anything else, or not at all.
std::string sameButForBatch(std::string_view a, std::string_view b, BatchRatio batches);

// The ratio that the first differing numbers of the two shapes suggest; not known when they differ in more
// than numbers.
BatchRatio ratioThatDiffers(std::string_view a, std::string_view b);

}  // namespace pitwall::comparing
