// What the colours in a picture of the timeline stand for, of what is in sight. Costs pixels, not events.
#pragma once

#include <string>
#include <vector>

#include "gui/timeline/hit.h"
#include "gui/timeline/palette.h"

namespace pitwall::gui {

struct LegendEntry {
  ColorIndex color = 0;
  std::string label;  // as events show it
  std::string name;   // of the group of names; empty: the entry is of a category
  double pixels = 0;  // that it covers, of one line per lane
};

// Of the lanes (`index` is not used) by the pixels that each covers, most first, at most `most` of them. By name, what shows no name is
// one entry a category.
std::vector<LegendEntry> legendOf(const Timeline& timeline, const std::vector<EventRef>& lanes,
                                  const View& view, ColorBy by, std::size_t most);

}  // namespace pitwall::gui
