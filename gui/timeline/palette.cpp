#include "gui/timeline/palette.h"

#include "gui/timeline/name_groups.h"

namespace pitwall::gui {
namespace {

enum class Category : std::uint8_t {
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
  recorder,
  callStack
};

struct CategoryColor {
  const char* meaning;
  std::uint32_t color;
};
constexpr CategoryColor kOfCategory[] = {
    {"other", 0x8da0b3}, {"forward", 0x0072b2},      {"backward", 0xd55e00}, {"update", 0x009e73},
    {"data", 0xe69f00},  {"kernel", 0x56b4e9},       {"copy", 0xcc79a7},     {"communication", 0x7b4fa3},
    {"wait", 0xb0b0b0},  {"library call", 0x6b8e4e}, {"recorder", 0x777777}, {"call stack", 0xc9ced4},
};
static_assert(std::size(kOfCategory) == kCategories);

// Lightness from 20 % to 90 % in steps, along blue, grey and yellow, which every kind of colour vision has.
constexpr std::uint32_t kBlindOfCategory[] = {0x8f8f8f, 0x00337a, 0xffe45c, 0x1f5fb4, 0xb89a2e, 0x6ea3e6,
                                              0x5f5118, 0xf3d9a4, 0xc9c9c9, 0x4b5d7a, 0x5a5a5a, 0xe2e2e2};
static_assert(std::size(kBlindOfCategory) == kCategories);

// Ten hues in two shades, evenly apart in the OKLCH colour space: lightness 0.60 and 0.78, chroma 0.135 and 0.12, less where the screen
// has no such colour.
constexpr std::uint32_t kOfName[] = {0xc45b56, 0xfb9890, 0xbd6526, 0xf4a16d, 0xa67605, 0xe0ae57, 0x7a8a10,
                                     0xb0c265, 0x369653, 0x7ccd8e, 0x009585, 0x47d0bd, 0x078ead, 0x4ac9ec,
                                     0x4182ce, 0x83bbff, 0x8070ca, 0xb6aaff, 0xb45d99, 0xeb98cf};
static_assert(std::size(kOfName) == kNameHues);
// Blue and yellow in turns, in ten steps of lightness from 0.32 to 0.94.
constexpr std::uint32_t kBlindOfName[] = {
    0x002f6e, 0x3e3200, 0x144283, 0x524400, 0x285699, 0x685600, 0x3c6aaf, 0x7f6900, 0x507fc6, 0x957d09,
    0x6494dc, 0xab922d, 0x78aaf4, 0xc0a846, 0x97c0fe, 0xd7be5d, 0xbbd7ff, 0xedd474, 0xe0ecfe, 0xffeba0};
static_assert(std::size(kBlindOfName) == kNameHues);

// Running, spinning, ready, lock, waiting, sleeping, storage, kernel, stopped: blue runs, orange and yellow lose time, greys wait. They differ in
// lightness, too.
constexpr std::uint32_t kOfState[] = {0xff0072b2, 0xffe69f00, 0xfff0e442, 0xffd55e00, 0xffb9c0c8,
                                      0xffdde1e5, 0xffcc79a7, 0xff7b4fa3, 0xff3c4248};
static_assert(std::size(kOfState) == kStateColors);

constexpr int kFrameAlpha = 70;  // frames of call stacks, of 255: context that other events stand out from

struct PaletteMaker {
  bool dark, blind;
  ColorBy by;
  std::uint32_t background = 0xffffffff;

  std::uint32_t color(std::size_t category, std::size_t hue) const {
    if (by == ColorBy::name && showsName(static_cast<ColorIndex>(category * kNameHues)))
      return 0xff000000 | (blind ? kBlindOfName[hue] : kOfName[hue]);
    if (by == ColorBy::name && category == static_cast<std::size_t>(Category::callStack))
      return blend(background, blind ? kBlindOfName[hue] : kOfName[hue], kFrameAlpha);
    const std::uint32_t first =
        0xff000000 | (blind ? kBlindOfCategory[category] : kOfCategory[category].color);
    if (hue % 2 == 0) return first;
    // Of other lightness than the background where lightness is what distinguishes colours.
    const std::uint32_t white = 0xffffffff, black = 0xff000000;
    return blind ? blend(first, dark ? white : black, 40) : blend(first, dark ? black : white, 70);
  }

  Palette make() const {
    Palette palette;
    palette.background = background;
    for (std::size_t i = 0; i < kStateColor; ++i) palette.color[i] = color(i / kNameHues, i % kNameHues);
    for (std::size_t i = 0; i < kStateColors; ++i)
      palette.color[kStateColor + i] = dark ? blend(background, kOfState[i], 210) : kOfState[i];
    if (dark) {
      palette.counter = 0xff3f6f9f;
      palette.counter_edge = 0xff8fc1f0;
    }
    return palette;
  }
};

Category categoryOf(EventKind kind, Phase phase) {
  switch (phase) {
    case Phase::forward: return Category::forward;
    case Phase::backward: return Category::backward;
    case Phase::update: return Category::update;
    case Phase::data: return Category::data;
    case Phase::none: break;
  }
  switch (kind) {
    case EventKind::dataWait:
    case EventKind::dataWork: return Category::data;
    case EventKind::kernel: return Category::kernel;
    case EventKind::copy: return Category::copy;
    case EventKind::communication: return Category::communication;
    case EventKind::wait: return Category::wait;
    case EventKind::api: return Category::api;
    case EventKind::recorder: return Category::recorder;
    case EventKind::operatorRun:
    case EventKind::bulk:
    case EventKind::scope:
    case EventKind::instant: break;
  }
  return Category::other;
}

}  // namespace

const Palette& Palette::of(bool dark, bool color_blind, ColorBy by) {
  static const auto all = [] {
    std::array<Palette, 8> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const bool is_dark = (i & 1) != 0;
      made[i] = PaletteMaker{is_dark, (i & 2) != 0, (i & 4) != 0 ? ColorBy::category : ColorBy::name,
                             is_dark ? 0xff1e2227 : 0xffffffff}
                    .make();
    }
    return made;
  }();
  return all[(dark ? 1U : 0U) + (color_blind ? 2U : 0U) + (by == ColorBy::category ? 4U : 0U)];
}

bool isCallFrame(std::string_view name) {
  if (name.starts_with("<built-in ") || name.starts_with("nn.Module: ")) return true;
  // "file(line): function"
  const std::size_t end = name.find("): ");
  if (end == name.npos || end == 0) return false;
  const std::size_t begin = name.find_last_not_of("0123456789", end - 1);
  return begin != name.npos && begin > 0 && begin + 1 < end && name[begin] == '(';
}

int hueOfName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: the same in every run and build
  for (const char c : groupOfName(name)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<int>((hash ^ hash >> 32) % kNameHues);
}

ColorIndex colorOf(EventKind kind, Phase phase, int hue, bool is_frame) {
  Category category = categoryOf(kind, phase);
  if (is_frame && kind == EventKind::scope && category == Category::other) category = Category::callStack;
  return static_cast<ColorIndex>(static_cast<int>(category) * kNameHues + hue);
}

ColorIndex colorOf(EventKind kind, Phase phase, std::string_view name) {
  return colorOf(kind, phase, hueOfName(name), kind == EventKind::scope && isCallFrame(name));
}

const char* meaningOf(ColorIndex color) {
  const auto category = static_cast<std::size_t>(categoryOf(color));
  return category < std::size(kOfCategory) ? kOfCategory[category].meaning : "other";
}

bool showsName(ColorIndex color) {
  const auto category = static_cast<Category>(categoryOf(color));
  return category != Category::wait && category != Category::recorder && category != Category::callStack;
}

std::uint32_t textOn(std::uint32_t color) {
  const std::uint32_t red = color >> 16 & 0xff, green = color >> 8 & 0xff, blue = color & 0xff;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? 0xff000000 : 0xffffffff;
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
