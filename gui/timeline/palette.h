// Colours of events by their meaning. Eight hues that people with any colour vision can distinguish (Okabe
// and Ito 2008), each with a second shade so that neighbours of one kind differ.
#pragma once

#include <array>
#include <cstdint>

#include "db/event.h"
#include "gui/timeline/lane.h"

namespace pitwall::gui {

inline constexpr int kColors = 32;

struct Palette {
  std::array<std::uint32_t, kColors> color{};  // 0xffRRGGBB
  std::uint32_t background = 0xffffffff;
  std::uint32_t counter = 0xff9cc3e6, counter_edge = 0xff2a6fae;

  static const Palette& light();
  static const Palette& dark();
  // With `color_blind` the hues differ in lightness as well, far enough to be distinguished as greys.
  static const Palette& of(bool dark, bool color_blind);
};

// `name` picks one of the two shades.
ColorIndex colorOf(EventKind kind, Phase phase, std::uint32_t name);

// The meaning of a colour, for the legend: "forward", "kernel", ...
const char* meaningOf(ColorIndex color);

// Between background (0) and color (255).
std::uint32_t blend(std::uint32_t background, std::uint32_t color, int alpha);

}  // namespace pitwall::gui
