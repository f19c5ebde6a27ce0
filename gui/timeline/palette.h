// Colours of events. A colour says two things: what kind of work an event is (its category) and which name it has; a palette shows one of
// them. Equal names have equal colours in every trace, whatever numbers they contain.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "db/event.h"
#include "gui/timeline/lane.h"

namespace pitwall::gui {

inline constexpr int kNameHues = 20;
inline constexpr int kCategories = 12;
// Colours of what a thread does (thread_states.h), the same in every palette but for light and dark.
inline constexpr int kStateColor = kCategories * kNameHues, kStateColors = 9;
inline constexpr int kColors = kStateColor + kStateColors;

enum class ColorBy : std::uint8_t { name, category };

struct Palette {
  std::array<std::uint32_t, kColors> color{};  // 0xffRRGGBB
  std::uint32_t background = 0xffffffff;
  std::uint32_t counter = 0xff9cc3e6, counter_edge = 0xff2a6fae;

  // By name.
  static const Palette& light() { return of(false, false, ColorBy::name); }
  static const Palette& dark() { return of(true, false, ColorBy::name); }
  // By name: ten hues in two shades; frames of call stacks are pale, waits grey. By category: eight hues that people with any colour
  // vision can distinguish (Okabe and Ito 2008), each with a second shade so that neighbours of one kind differ. With `color_blind`
  // colours differ in lightness as well, categories far enough to be distinguished as greys.
  static const Palette& of(bool dark, bool color_blind, ColorBy by);
};

// Whether a section of the program is a frame of a call stack, as profilers write them: "module.py(12): function", "<built-in ...>",
// "nn.Module: Linear_0".
bool isCallFrame(std::string_view name);

// The colour of events of that name: what it has in common with others of its group (name_groups.h).
int hueOfName(std::string_view name);

ColorIndex colorOf(EventKind kind, Phase phase, std::string_view name);
// The same, of names whose hue and nature are known.
ColorIndex colorOf(EventKind kind, Phase phase, int hue, bool is_frame);

// The colour of a part of a sum, such as a tag of memory; neighbours differ in every palette.
constexpr ColorIndex memoryColor(std::size_t part) {
  const std::size_t category = part % kCategories, hue = part * 6 % kNameHues;
  return static_cast<ColorIndex>(category * kNameHues + hue);
}

// Place of the colour's category, 0 .. kCategories - 1, and its name for the legend: "forward", "kernel", ...
constexpr int categoryOf(ColorIndex color) { return color / kNameHues; }
const char* meaningOf(ColorIndex color);
// Whether a palette by name shows the name, and not that the event is a wait or a frame of a call stack.
bool showsName(ColorIndex color);

// Black or white: the one that is readable on the colour.
std::uint32_t textOn(std::uint32_t color);
// Between background (0) and color (255).
std::uint32_t blend(std::uint32_t background, std::uint32_t color, int alpha);

}  // namespace pitwall::gui
