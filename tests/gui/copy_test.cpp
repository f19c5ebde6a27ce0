// What is in view or selected, in words, as CSV and as a picture; and the greatest value of a counter.
#include <QClipboard>
#include <QDialog>
#include <QPlainTextEdit>
#include <QPushButton>

#include "gui/models/view_text.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::copy_test {
namespace {

constexpr TimeNs kMs = 1'000'000;

class CopyTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1200, 800);
    window_.show();
    const std::string path = folder_ / "memory.pitwall";
    auto sink = createTrace(path);
    ASSERT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const ThreadId main = trace.thread({process, 1, "main"}), other = trace.thread({process, 2, "other"});
    const auto track = [&](ThreadId thread, std::vector<Event> events) {
      trace.events(trace.track({TrackKind::thread, process, thread, {}, "", ""}), events);
    };
    track(main, {{.start_ns = 0, .dur_ns = 10 * kMs, .name = trace.string("step")},
                 {.start_ns = 4 * kMs, .dur_ns = 2 * kMs, .name = trace.string("conv1"), .depth = 1},
                 {.start_ns = 13 * kMs, .dur_ns = 2 * kMs, .name = trace.string("update")}});
    track(other, {{.start_ns = kMs, .dur_ns = kMs, .name = trace.string("load")}});
    trace.counters(
        trace.track({TrackKind::counter, process, {}, {}, "memory live", "bytes"}),
        std::vector<CounterSample>{{0, 1 << 20}, {5 * kMs, 3 << 20}, {7 * kMs, 2 << 20}, {11 * kMs, 0}});
    ASSERT_TRUE(trace.finish().has_value());
    open(path);
  }
  std::size_t trackCalled(const std::string& part) {
    const auto& tracks = window_.timelineView().timeline()->tracks;
    for (std::size_t t = 0; t < tracks.size(); ++t) {
      if (tracks[t].title.find(part) != std::string::npos) return t;
    }
    ADD_FAILURE() << part;
    return 0;
  }
};

TEST_F(CopyTest, TheViewIsDescribedInWordsAndCopied) {
  TimelineView& view = window_.timelineView();
  view.select(EventRef{trackCalled("main"), 0, 1}, false);
  window_.actions().find("view.describe")->trigger();
  QDialog* dialog = nullptr;
  ASSERT_TRUE(QTest::qWaitFor([&] { return (dialog = window_.findChild<QDialog*>("text")) != nullptr; },
                              kPatienceMs));
  const QString text = dialog->findChild<QPlainTextEdit*>()->toPlainText();
  for (const char* part :
       {"In view: ", "Selected: update, 2.00 ms, on main", "main: 3 events, busy 80.0 %",
        "longest gap 3.00 ms", "most time: step 10.0 ms; ", "memory live (bytes): 0 B to 3.0 MiB"})
    EXPECT_TRUE(text.contains(part)) << part << " is not in\n" << text.toStdString();
  for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
    if (button->text() == "&Copy") QTest::mouseClick(button, Qt::LeftButton);
  }
  EXPECT_EQ(QApplication::clipboard()->text(), text);
  QTest::keyClick(dialog, Qt::Key_Escape);
  EXPECT_TRUE(QTest::qWaitFor([&] { return window_.findChild<QDialog*>("text") == nullptr; }, kPatienceMs));
}

TEST_F(CopyTest, GapsAreBetweenEventsOfTheView) {
  const TimelineTrack& main = window_.timelineView().timeline()->tracks[trackCalled("main")];
  EXPECT_EQ(longestGap(main, 0, 20 * kMs), std::pair(10 * kMs, 13 * kMs));
  EXPECT_EQ(longestGap(main, 0, 9 * kMs), std::pair(TimeNs{0}, TimeNs{0}));
}

TEST_F(CopyTest, TheRangeIsCopiedAsCsvAndAsAPicture) {
  QSignalSpy answered(&window_.rangeView(), &RangeView::answered);
  window_.timelineView().selectRange(TimeRange{0, 10 * kMs});
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  window_.actions().find("select.copy_csv")->trigger();
  const QStringList lines = QApplication::clipboard()->text().trimmed().split('\n');
  ASSERT_EQ(lines.size(), 4) << "a header, step, conv1 and load";
  EXPECT_TRUE(lines[1].startsWith("step,1,10000000")) << lines[1].toStdString();

  TimelineView& view = window_.timelineView();
  window_.actions().find("select.copy_picture")->trigger();
  const QImage part = QApplication::clipboard()->image();
  view.selectRange(std::nullopt);
  window_.actions().find("select.copy_picture")->trigger();
  const QImage whole = QApplication::clipboard()->image();
  EXPECT_EQ(whole.size(), view.viewport()->size() * view.devicePixelRatioF());
  EXPECT_EQ(part.height(), whole.height());
  EXPECT_LT(part.width(), whole.width() - 100);
  EXPECT_GT(part.width(), view.geometryNow().titles + 100);
}

TEST_F(CopyTest, XGoesToTheGreatestValueAndWhatRunsThen) {
  TimelineView& view = window_.timelineView();
  view.setFocus();
  QSignalSpy remarked(&view, &TimelineView::remarked);
  view.focusTrack(trackCalled("other"));
  key(Qt::Key_X);
  ASSERT_EQ(remarked.count(), 1);
  EXPECT_FALSE(view.fixedCursor().has_value()) << "not a counter";
  EXPECT_FALSE(view.range().has_value()) << "one event has no gaps";
  view.focusTrack(trackCalled("memory live"));
  key(Qt::Key_X);
  ASSERT_EQ(remarked.count(), 2);
  EXPECT_EQ(view.fixedCursor(), 5 * kMs);
  const QString said = remarked.last()[0].toString();
  EXPECT_TRUE(said.startsWith("Greatest: 3.0 MiB at 5")) << said.toStdString();
  EXPECT_TRUE(said.contains("conv1, on main")) << said.toStdString();
  ASSERT_TRUE(view.selected().has_value());
  EXPECT_EQ(view.selected()->lane, 1U);
  key(Qt::Key_0);
  view.focusTrack(trackCalled("main"));
  key(Qt::Key_X);
  ASSERT_TRUE(view.range().has_value());
  EXPECT_EQ(view.range()->from, 10 * kMs);
  EXPECT_EQ(view.range()->to, 13 * kMs);
  EXPECT_TRUE(view.range()->tracks.empty()) << "what all rows did meanwhile";
}

}  // namespace
}  // namespace pitwall::gui::copy_test
