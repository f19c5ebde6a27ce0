// A collective on all ranks: found by its end, rows on top of each other.
#include "gui/timeline/across_processes.h"
#include "gui/timeline/search.h"
#include "tests/gui/viewer_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::ranks_test {
namespace {

// Three ranks; each collective ends at 90 us of its 100 us everywhere, and rank 2 begins it last. A second one follows at
// once. Rank 0 alone has a broadcast.
constexpr char kRanks[] =
    "repeat 5 100us\n"
    "iteration 0 32\n"
    "work communication AllReduce 40us 50us gpu=0 rank=0\n"
    "work communication AllReduce 55us 35us gpu=0 rank=1\n"
    "work communication AllReduce 80us 10us gpu=0 rank=2\n"
    "work communication AllReduce 92us 3us gpu=0 rank=0\n"
    "work communication AllReduce 92us 3us gpu=0 rank=1\n"
    "work communication AllReduce 92us 3us gpu=0 rank=2\n"
    "work communication Broadcast 0us 5us gpu=0 rank=0\n"
    "work kernel gemm 0us 30us gpu=0 rank=1\n"
    "end\n";

class RanksTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1300, 700);
    window_.show();
    const std::string path = folder_ / "ranks.pitwall";
    ASSERT_TRUE(test::makeTraceFile(kRanks, path).has_value());
    open(path);
  }
  const Timeline& timeline() { return *window_.timelineView().timeline(); }
  // Of that name on the rank, the one that begins at `start`.
  EventRef eventAt(const std::string& name, int rank, TimeNs start) {
    for (std::size_t t = 0; t < timeline().tracks.size(); ++t) {
      const TimelineTrack& track = timeline().tracks[t];
      if (timeline().processes[track.process].rank != rank) continue;
      for (std::size_t l = 0; l < track.lanes.size(); ++l) {
        for (std::size_t i = 0; i < track.lanes[l].size(); ++i) {
          if (track.lanes[l].startNs(i) == start && timeline().name(track.lanes[l].name(i)) == name)
            return {t, l, i};
        }
      }
    }
    ADD_FAILURE() << name << " of rank " << rank << " at " << start;
    return {};
  }
};

TEST_F(RanksTest, TheSameCollectiveIsTheOneThatEndsAtTheSameTime) {
  for (const TimeNs iteration : {TimeNs{0}, TimeNs{200'000}, TimeNs{400'000}}) {
    const auto late = eventAt("AllReduce", 2, iteration + 80'000);
    const auto first = eventAt("AllReduce", 0, iteration + 40'000),
               second = eventAt("AllReduce", 1, iteration + 55'000);
    const std::vector<EventRef> all{first, second, late};
    for (const EventRef& event : all) EXPECT_EQ(sameInAllProcesses(timeline(), event), all);
  }
  const auto next = eventAt("AllReduce", 1, 92'000);
  EXPECT_EQ(sameInAllProcesses(timeline(), next),
            (std::vector{eventAt("AllReduce", 0, 92'000), next, eventAt("AllReduce", 2, 92'000)}));
  const auto alone = eventAt("Broadcast", 0, 0);
  EXPECT_EQ(sameInAllProcesses(timeline(), alone), std::vector{alone});
}

TEST_F(RanksTest, AKeyPutsTheRowsOnTopAndSaysWhoBeganLast) {
  TimelineView& view = window_.timelineView();
  view.select(eventAt("AllReduce", 0, 240'000), true);
  QSignalSpy remarked(&view, &TimelineView::remarked);
  key(Qt::Key_J);
  ASSERT_EQ(remarked.count(), 1);
  const QString text = remarked[0][0].toString();
  EXPECT_TRUE(
      text.contains("AllReduce on 3 processes: rank 2 begins last, 40.0 us after rank 0; they end together"))
      << qPrintable(text);
  ASSERT_GE(view.rows().rows().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(view.rows().rows()[i].pinned) << i;
  const View& shown = view.viewportModel().view();
  EXPECT_LT(shown.start_ns, 240'000);
  EXPECT_GT(shown.endNs(), 290'000);
  EXPECT_LT(shown.endNs() - shown.start_ns, 100'000) << "fitted to the collective";
  key(Qt::Key_J);
  EXPECT_TRUE(view.rows().rows()[2].pinned) << "again: the same";
}

TEST_F(RanksTest, WhatOneRankAloneDoesAndNoSelectionAreSaid) {
  TimelineView& view = window_.timelineView();
  QSignalSpy remarked(&view, &TimelineView::remarked);
  key(Qt::Key_J);
  EXPECT_TRUE(remarked.last()[0].toString().contains("Select an event first"));
  view.select(eventAt("Broadcast", 0, 0), true);
  key(Qt::Key_J);
  EXPECT_TRUE(remarked.last()[0].toString().contains("No other process"))
      << qPrintable(remarked.last()[0].toString());
  EXPECT_FALSE(view.rows().rows()[0].pinned);
}

}  // namespace
}  // namespace pitwall::gui::ranks_test
