#include "gui/timeline/palette.h"

namespace pitwall::gui {
namespace {

// Rows of the palette, two shades each.
enum class Hue : std::uint8_t {
  other,
  forward,
  backward,
  update,
  data,
  kernel,
  copy,
  communication,
  wait,
  api,
  recorder
};

struct HueColors {
  const char* meaning;
  std::uint32_t color;
};
constexpr HueColors kHues[] = {
    {"other", 0x8da0b3}, {"forward", 0x0072b2},      {"backward", 0xd55e00}, {"update", 0x009e73},
    {"data", 0xe69f00},  {"kernel", 0x56b4e9},       {"copy", 0xcc79a7},     {"communication", 0x7b4fa3},
    {"wait", 0xb0b0b0},  {"library call", 0x6b8e4e}, {"recorder", 0x777777},
};

Palette makePalette(std::uint32_t background, std::uint32_t second_shade, int second_alpha) {
  Palette palette;
  palette.background = background;
  for (std::size_t i = 0; i < std::size(kHues); ++i) {
    palette.color[2 * i] = 0xff000000 | kHues[i].color;
    palette.color[2 * i + 1] = blend(palette.color[2 * i], second_shade, second_alpha);
  }
  return palette;
}

// Lightness from 20 % to 90 % in steps, along blue, grey and yellow, which every kind of colour vision has.
constexpr std::uint32_t kBlindHues[] = {0x8f8f8f, 0x00337a, 0xffe45c, 0x1f5fb4, 0xb89a2e, 0x6ea3e6,
                                        0x5f5118, 0xf3d9a4, 0xc9c9c9, 0x4b5d7a, 0x5a5a5a};
static_assert(std::size(kBlindHues) == std::size(kHues));

Palette makeBlindPalette(std::uint32_t background, std::uint32_t second_shade) {
  constexpr int kSecondAlpha = 40;
  Palette palette;
  palette.background = background;
  for (std::size_t i = 0; i < std::size(kBlindHues); ++i) {
    palette.color[2 * i] = 0xff000000 | kBlindHues[i];
    palette.color[2 * i + 1] = blend(palette.color[2 * i], second_shade, kSecondAlpha);
  }
  return palette;
}

Hue hueOf(EventKind kind, Phase phase) {
  switch (phase) {
    case Phase::forward: return Hue::forward;
    case Phase::backward: return Hue::backward;
    case Phase::update: return Hue::update;
    case Phase::data: return Hue::data;
    case Phase::none: break;
  }
  switch (kind) {
    case EventKind::dataWait:
    case EventKind::dataWork: return Hue::data;
    case EventKind::kernel: return Hue::kernel;
    case EventKind::copy: return Hue::copy;
    case EventKind::communication: return Hue::communication;
    case EventKind::wait: return Hue::wait;
    case EventKind::api: return Hue::api;
    case EventKind::recorder: return Hue::recorder;
    case EventKind::operatorRun:
    case EventKind::bulk:
    case EventKind::scope:
    case EventKind::instant: break;
  }
  return Hue::other;
}

}  // namespace

const Palette& Palette::light() {
  static const Palette palette = makePalette(0xffffffff, 0xffffffff, 70);
  return palette;
}

const Palette& Palette::dark() {
  static const Palette palette = [] {
    Palette made = makePalette(0xff1e2227, 0xff000000, 70);
    made.counter = 0xff3f6f9f;
    made.counter_edge = 0xff8fc1f0;
    return made;
  }();
  return palette;
}

const Palette& Palette::of(bool dark, bool color_blind) {
  if (!color_blind) return dark ? Palette::dark() : light();
  static const Palette on_light = makeBlindPalette(0xffffffff, 0xff000000);
  static const Palette on_dark = makeBlindPalette(0xff1e2227, 0xffffffff);
  return dark ? on_dark : on_light;
}

ColorIndex colorOf(EventKind kind, Phase phase, std::uint32_t name) {
  return static_cast<ColorIndex>(2 * static_cast<int>(hueOf(kind, phase)) + static_cast<int>(name & 1));
}

const char* meaningOf(ColorIndex color) {
  return color / 2 < std::size(kHues) ? kHues[color / 2].meaning : "other";
}

std::uint32_t blend(std::uint32_t background, std::uint32_t color, int alpha) {
  const auto channel = [&](int shift) {
    const int from = static_cast<int>(background >> shift & 0xff),
              to = static_cast<int>(color >> shift & 0xff);
    return static_cast<std::uint32_t>(from + (to - from) * alpha / 255) << shift;
  };
  return 0xff000000 | channel(16) | channel(8) | channel(0);
}

}  // namespace pitwall::gui
