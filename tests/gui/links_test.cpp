// What the selected event waited for and what waited for it: in the details, by key, and back.
#include <algorithm>
#include <cmath>

#include "gui/models/event_links.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::links_test {
namespace {

class LinksTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1400, 900);
    window_.show();
    open(madeTrace());
  }
  // Operators on two workers: "sum" reads what "left" and "right" wrote, of which "right" ends last; "use" and "late" read the sum.
  // A kernel that was launched long before the kernel ahead of it on its stream ended.
  std::string madeTrace() {
    const std::string path = folder_ / "links.pitwall";
    auto sink = createTrace(path);
    EXPECT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const auto thread = [&](std::int64_t tid, const char* name) {
      return trace.track({TrackKind::thread, process, trace.thread({process, tid, name}), {}, "", ""});
    };
    const auto add = [&](TrackId track, const char* name, TimeNs start, TimeNs dur, CorrelationId number,
                         EventKind kind) {
      const Event event{
          .start_ns = start, .dur_ns = dur, .correlation = number, .name = trace.string(name), .kind = kind};
      trace.events(track, {&event, 1});
    };
    const TrackId one = thread(1, "one"), two = thread(2, "two");
    add(one, "left", 0, 1000, 1, EventKind::operatorRun);
    add(two, "right", 500, 2000, 2, EventKind::operatorRun);
    add(one, "sum", 3000, 1000, 3, EventKind::operatorRun);
    add(two, "use", 5000, 1000, 4, EventKind::operatorRun);
    add(one, "late", 9000, 1000, 5, EventKind::operatorRun);
    add(one, "launch", 10'000, 500, 6, EventKind::api);
    const TrackId stream = trace.track(
        {TrackKind::stream, process, {}, trace.device({"gpu", 0, "a device", 0}), "stream 7", ""});
    add(stream, "long", 9'500, 4000, 7, EventKind::kernel);
    add(stream, "short", 13'600, 1000, 8, EventKind::kernel);
    const std::vector<Dependency> all{{1, 3, DependencyKind::readAfterWrite},
                                      {2, 3, DependencyKind::readAfterWrite},
                                      {3, 4, DependencyKind::readAfterWrite},
                                      {3, 5, DependencyKind::writeAfterRead},
                                      {6, 8, DependencyKind::launch}};
    trace.dependencies(all);
    EXPECT_TRUE(trace.finish().has_value());
    return path;
  }
  TimelineView& view() { return window_.timelineView(); }
  std::string selected() {
    const EventRef& at = *view().selected();
    return view().timeline()->name(view().timeline()->tracks[at.track].lanes[at.lane].name(at.index));
  }
  // Rows about what waited, once the details of that event are shown.
  std::vector<std::string> waitsOf(const char* name, int count) {
    window_.find(name, true);
    std::vector<std::string> rows;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
          rows.clear();
          DetailsView& details = window_.detailsView();
          if (details.topLevelItemCount() == 0 || details.topLevelItem(0)->text(1) != name) return false;
          for (int i = 0; i < details.topLevelItemCount(); ++i) {
            const QTreeWidgetItem& row = *details.topLevelItem(i);
            if (row.text(0).startsWith("Waited for") && !row.text(0).contains("operands"))
              rows.push_back((row.text(0) + "=" + row.text(1)).toStdString());
          }
          return static_cast<int>(rows.size()) == count;
        },
        kPatienceMs));
    return rows;
  }
};

using Strings = std::vector<std::string>;

TEST_F(LinksTest, DetailsSayWhatHeldItBackLastFirst) {
  EXPECT_EQ(waitsOf("sum", 4), (Strings{"Waited for, last=right (two), read after write: ended 500 ns before",
                                        "Waited for=left (one), read after write: ended 2.00 us before",
                                        "Waited for by=use (two), read after write: ended 1.00 us before",
                                        "Waited for by=late (one), write after read: ended 5.00 us before"}));
  EXPECT_EQ(waitsOf("short", 2),
            (Strings{"Waited for, last=long (gpu 0 stream 7), stream order: ended 100 ns before",
                     "Waited for=launch (one), launch: started 3.60 us before"}));
  EXPECT_EQ(waitsOf("left", 1).size(), 1U);
}

TEST_F(LinksTest, KeysGoStepByStepAndBackTheSameWay) {
  window_.find("late", true);
  // At once, before the trace has answered.
  key(Qt::Key_BracketLeft);
  QTRY_COMPARE_WITH_TIMEOUT(selected(), std::string("sum"), kPatienceMs);
  key(Qt::Key_BracketLeft);
  QTRY_COMPARE_WITH_TIMEOUT(selected(), std::string("right"), kPatienceMs);
  key(Qt::Key_BracketRight);
  EXPECT_EQ(selected(), "sum");
  key(Qt::Key_BracketRight);
  EXPECT_EQ(selected(), "late") << "where it came from, not the first that waited for it";
  // Nothing waited for the end of that way.
  QSignalSpy remarks(&view(), &TimelineView::remarked);
  key(Qt::Key_BracketRight);
  QTRY_COMPARE_WITH_TIMEOUT(remarks.count(), 1, kPatienceMs);
  EXPECT_EQ(selected(), "late");
  // Selected otherwise, it is a new way.
  window_.find("sum", true);
  key(Qt::Key_BracketRight);
  QTRY_COMPARE_WITH_TIMEOUT(selected(), std::string("use"), kPatienceMs);
}

// The greatest difference of a pixel, of 255.
int differenceOf(const QImage& a, const QImage& b) {
  int most = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x)
      most = std::max(most, std::abs(qGray(a.pixel(x, y)) - qGray(b.pixel(x, y))));
  }
  return most;
}

TEST_F(LinksTest, TheArrowThatMattersIsStrongAndOthersAreFaint) {
  waitsOf("sum", 4);
  view().showAll();
  ASSERT_TRUE(QTest::qWaitFor([&] { return view().arrows().size() == 4; }, kPatienceMs));
  const auto arrows = view().arrows();
  const auto pictureWith = [&](std::size_t first, std::size_t end) {
    view().setArrows({arrows.begin() + static_cast<std::ptrdiff_t>(first),
                      arrows.begin() + static_cast<std::ptrdiff_t>(end)});
    return view().picture();
  };
  const QImage none = pictureWith(2, 2), first = pictureWith(2, 3), both = pictureWith(2, 4);
  EXPECT_GT(differenceOf(none, first), 120);  // to "use"
  EXPECT_GT(differenceOf(first, both), 20);   // to "late"
  EXPECT_LT(differenceOf(first, both), 120);
}

TEST_F(LinksTest, ReturnOnARowShowsThatEvent) {
  waitsOf("sum", 4);
  DetailsView& details = window_.detailsView();
  details.setFocus();
  for (int i = 0; i < details.topLevelItemCount(); ++i) {
    if (details.topLevelItem(i)->text(1).startsWith("left")) details.setCurrentItem(details.topLevelItem(i));
  }
  QTest::keyClick(&details, Qt::Key_Return);
  EXPECT_EQ(selected(), "left");
}

}  // namespace
}  // namespace pitwall::gui::links_test
