// The names of memory's tags on their row.
#pragma once

#include <QPainter>
#include <vector>

#include "gui/timeline/palette.h"
#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// Behind the text at `place`, each beside its colour, the lowest first; those for which `right` leaves room.
void paintMemoryTags(QPainter& painter, const QRect& place, int right, const std::vector<MemoryLayer>& layers,
                     const Palette& palette);

// "weights 1.2 MB, activations 340 kB": what each tag uses at that time, the greatest part of all time first.
QString memoryText(const std::vector<MemoryLayer>& layers, TimeNs time);

}  // namespace pitwall::gui
