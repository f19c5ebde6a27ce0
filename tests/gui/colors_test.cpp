// What colours of events say, without a display.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "gui/timeline/legend.h"
#include "gui/timeline/palette.h"

namespace pitwall::gui::colors_test {
namespace {

int lightness(std::uint32_t color) {
  return static_cast<int>((299 * (color >> 16 & 0xff) + 587 * (color >> 8 & 0xff) + 114 * (color & 0xff)) /
                          1000);
}

TEST(Colors, ANameHasOneInEveryTraceWhateverNumbersItHas) {
  EXPECT_EQ(hueOfName("ProfilerStep#7"), hueOfName("ProfilerStep#123"));
  EXPECT_EQ(hueOfName("aten::add, op_id = 3"), hueOfName("aten::add"));
  EXPECT_EQ(hueOfName("aten::add"), 4);  // FNV-1a, folded, modulo 20: of no run, order or build
  std::set<int> hues;
  for (int i = 0; i < 200; ++i)
    hues.insert(
        hueOfName(std::string("op") + static_cast<char>('a' + i % 26) + static_cast<char>('a' + i / 26)));
  EXPECT_EQ(hues.size(), static_cast<std::size_t>(kNameHues));
}

TEST(Colors, FramesOfCallStacksArePaleAndOperatorsAreNot) {
  for (const char* frame :
       {"torch/nn/module.py(12): __call__", "<built-in method to of Tensor object at 0x7>",
        "nn.Module: Linear_0", "<string>(1): <module>"})
    EXPECT_TRUE(isCallFrame(frame)) << frame;
  for (const char* name :
       {"aten::conv2d", "ProfilerStep#3", "f(int): g", "Optimizer.step#SGD.step", "(3): x"})
    EXPECT_FALSE(isCallFrame(name)) << name;
  const char* const name = "a.py(1): f";
  const ColorIndex frame = colorOf(EventKind::scope, Phase::none, name);
  const ColorIndex same_name = colorOf(EventKind::kernel, Phase::none, name);
  EXPECT_FALSE(showsName(frame));
  EXPECT_TRUE(showsName(same_name));
  for (const bool dark : {false, true}) {
    const Palette& palette = Palette::of(dark, false, ColorBy::name);
    const auto apart = [&](ColorIndex color) {
      return std::abs(lightness(palette.color[color]) - lightness(palette.background));
    };
    EXPECT_LT(2 * apart(frame), apart(same_name));
  }
}

TEST(Colors, ByNameCategoriesShareColorsAndByCategoryNamesDo) {
  const ColorIndex kernel = colorOf(EventKind::kernel, Phase::none, "x"),
                   copy = colorOf(EventKind::copy, Phase::none, "x"),
                   other = static_cast<ColorIndex>(kernel / kNameHues * kNameHues + (kernel + 2) % kNameHues);
  for (const bool blind : {false, true}) {
    const Palette& by_name = Palette::of(false, blind, ColorBy::name);
    EXPECT_EQ(by_name.color[kernel], by_name.color[copy]);
    EXPECT_NE(by_name.color[kernel], by_name.color[other]);
    const Palette& by_category = Palette::of(false, blind, ColorBy::category);
    EXPECT_NE(by_category.color[kernel], by_category.color[copy]);
    EXPECT_EQ(by_category.color[kernel], by_category.color[other]);
    std::set<std::uint32_t> hues;
    for (int hue = 0; hue < kNameHues; ++hue) hues.insert(by_name.color[static_cast<std::size_t>(hue)]);
    EXPECT_EQ(hues.size(), static_cast<std::size_t>(kNameHues));
  }
  EXPECT_STREQ(meaningOf(kernel), "kernel");
  EXPECT_STREQ(meaningOf(colorOf(EventKind::operatorRun, Phase::backward, "x")), "backward");
}

// A second of "long" over a second of many short events of "a" and "b", one of four "b".
Timeline twoLanes() {
  Timeline timeline;
  timeline.names = {"", "long", "a", "b", "sleep"};
  timeline.groups = groupNames(timeline.names);
  TimelineTrack track;
  track.lanes.resize(3);
  track.lanes[0].append(0, 1'000'000'000, 1, colorOf(EventKind::scope, Phase::none, "long"));
  for (int i = 0; i < 100'000; ++i) {
    const bool is_b = i % 4 == 3;
    track.lanes[1].append(i * 10'000, 10'000, is_b ? 3 : 2,
                          colorOf(EventKind::operatorRun, Phase::none, is_b ? "b" : "a"));
  }
  track.lanes[2].append(0, 250'000'000, 4, colorOf(EventKind::wait, Phase::none, "sleep"));
  timeline.tracks.push_back(std::move(track));
  return timeline;
}

TEST(Legend, HasWhatIsInSightByThePixelsItCovers) {
  const Timeline timeline = twoLanes();
  const std::vector<EventRef> lanes{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}};
  const auto whole = legendOf(timeline, lanes, View{0, 1e6, 1000}, ColorBy::name, 8);
  ASSERT_GE(whole.size(), 3U);
  EXPECT_EQ(whole[0].label, "long");
  EXPECT_NEAR(whole[0].pixels, 1000, 1);
  const auto named = [&](const std::vector<LegendEntry>& entries, const char* label) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const LegendEntry& entry) { return entry.label == label; });
  };
  const auto wait = named(whole, "wait");
  ASSERT_NE(wait, whole.end());
  EXPECT_EQ(wait->name, "");
  EXPECT_NEAR(wait->pixels, 250, 1);
  // Four short events, each 250 pixels wide.
  const auto near = legendOf(timeline, lanes, View{0, 40, 1000}, ColorBy::name, 8);
  ASSERT_NE(named(near, "a"), near.end());
  ASSERT_NE(named(near, "b"), near.end());
  EXPECT_NEAR(named(near, "a")->pixels, 750, 1);
  EXPECT_NEAR(named(near, "b")->pixels, 250, 1);
  const auto by_category = legendOf(timeline, lanes, View{0, 1e6, 1000}, ColorBy::category, 8);
  ASSERT_EQ(by_category.size(), 2U);
  EXPECT_EQ(by_category[0].label, "other");
  EXPECT_EQ(by_category[1].label, "wait");
  EXPECT_EQ(legendOf(timeline, lanes, View{0, 1e6, 1000}, ColorBy::name, 1).size(), 1U);
  EXPECT_TRUE(legendOf(timeline, lanes, View{2e9, 1, 1000}, ColorBy::name, 8).empty());
}

}  // namespace
}  // namespace pitwall::gui::colors_test
