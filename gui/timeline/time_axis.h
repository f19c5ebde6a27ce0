// Ticks of the ruler and times as people read them.
#pragma once

#include <string>
#include <vector>

#include "db/units.h"
#include "gui/timeline/viewport.h"

namespace pitwall::gui {

struct Tick {
  double x = 0;
  std::string label;
};

// At round times (1, 2 or 5 times a power of ten), at least `least_px` apart.
std::vector<Tick> ticksOf(const View& view, double least_px = 90);

// A moment, precise enough to distinguish moments `resolution_ns` apart: "12.345678 s", "3.2 us".
std::string showMoment(double ns, double resolution_ns);

}  // namespace pitwall::gui
