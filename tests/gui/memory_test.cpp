// Live memory by tag as one row: its parts, their colours and names, and what uses it at the peak.
#include "gui/timeline/memory_stack.h"
#include "gui/timeline/palette.h"
#include "tests/gui/gesture_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::memory_test {
namespace {

class MemoryTest : public GestureTest {
 protected:
  void openText(const std::string& text) {
    const std::string path = folder_ / "memory.pitwall";
    const auto status = test::makeTraceFile(text, path);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    open(path);
  }
  std::vector<const TimelineTrack*> stacks() {
    std::vector<const TimelineTrack*> found;
    for (const TimelineTrack& track : view().timeline()->tracks) {
      if (track.memory) found.push_back(&track);
    }
    return found;
  }
};

// Weights stay at 2 MiB; activations come and go, with their greatest while the operator conv runs.
constexpr char kTraining[] =
    "range step 0 10ms\n"
    "range conv 4ms 2ms\n"
    "counter memory~live:~weights bytes 1ms 2097152\n"
    "counter memory~live:~activations bytes 2ms 1048576\n"
    "counter memory~live:~activations bytes 5ms 3145728\n"
    "counter memory~live:~activations bytes 8ms 0\n"
    "counter memory~live:~workspace bytes 9ms 524288\n"
    "counter memory~reserved:~cpu/0 bytes 1ms 9097152\n";

TEST_F(MemoryTest, TagsAreOnTopOfEachOtherTheGreatestLowest) {
  openText(kTraining);
  const auto rows = stacks();
  ASSERT_EQ(rows.size(), 1U);
  const auto& layers = *rows[0]->memory;
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].tag, "activations");
  EXPECT_EQ(layers[1].tag, "weights");
  EXPECT_EQ(layers[2].tag, "workspace");
  EXPECT_EQ(rows[0]->title, "memory by tag (bytes)");
  EXPECT_EQ(rows[0]->counter.greatest(), 5242880) << "of all tags at one time";
  const TimeNs at = 5'500'000;
  EXPECT_EQ(ownValue(layers, 0, at), 3145728);
  EXPECT_EQ(ownValue(layers, 1, at), 2097152);
  EXPECT_EQ(ownValue(layers, 2, at), 0);
  EXPECT_EQ(ownValue(layers, 0, 9'500'000), 0) << "freed";
  EXPECT_EQ(ownValue(layers, 1, 500'000), 0) << "before its first sample";
}

TEST_F(MemoryTest, DevicesAreApartAndOneTagOrADeviceIsNoStack) {
  openText(
      "range step 0 10ms\n"
      "counter memory~live:~gpu/0~weights bytes 1ms 100\n"
      "counter memory~live:~gpu/0~gradients bytes 2ms 100\n"
      "counter memory~live:~gpu/1~weights bytes 1ms 100\n"
      "counter memory~live:~cpu/0 bytes 1ms 100\n"
      "counter memory~live:~cpu/1 bytes 1ms 100\n");
  const auto rows = stacks();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]->title, "gpu/0 memory by tag (bytes)");
}

TEST_F(MemoryTest, TheRowShowsEachTagInItsColourAndThePeakNamesItsUsers) {
  openText(kTraining);
  const auto track = static_cast<std::size_t>(stacks()[0] - view().timeline()->tracks.data());
  const QImage picture = view().viewport()->grab().toImage();
  const auto& palette = Palette::of(false, false, ColorBy::name);
  const Row& shown = view().rows().rows()[static_cast<std::size_t>(view().rows().rowOfTrack(track))];
  const int x = view().geometryNow().titles + static_cast<int>(view().viewportModel().view().xOf(7e6));
  const int bottom = view().geometryNow().top() + shown.y + shown.height;
  const auto colorAt = [&](double share) {  // of the row's height
    return picture.pixel(x, bottom - 2 - static_cast<int>(share * (shown.height - 4))) & 0xffffff;
  };
  EXPECT_EQ(colorAt(0.2), palette.color[memoryColor(0)] & 0xffffff) << "activations";
  EXPECT_EQ(colorAt(0.8), palette.color[memoryColor(1)] & 0xffffff) << "weights";
  QStringList said;
  QObject::connect(&view(), &TimelineView::remarked, [&](const QString& text) { said += text; });
  click(at(track, 0, 7e6));
  key(Qt::Key_X);
  ASSERT_FALSE(said.isEmpty());
  EXPECT_EQ(
      said.back().toStdString(),
      "Greatest: 5.0 MiB (activations 3.0 MiB, weights 2.0 MiB) at 5.000000 ms. Then runs conv, on main.");
}

}  // namespace
}  // namespace pitwall::gui::memory_test
