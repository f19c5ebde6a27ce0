// Colours of events that the user has chosen for the whole application.
#pragma once

#include <QPalette>

#include "gui/timeline/palette.h"

namespace pitwall::gui {

bool isDark(const QPalette& palette);
// Those that go with light or dark widgets.
const Palette& eventColors(bool dark);
// Hues that differ in lightness too; repaints every widget.
void setColorBlindColors(bool on);
bool colorBlindColors();
// What colours say; by name at first. Repaints every widget.
void setEventColoring(ColorBy by);
ColorBy eventColoring();

}  // namespace pitwall::gui
