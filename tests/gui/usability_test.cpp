// The tasks of docs/usability.md, done with as many keys and clicks as it says.
#include <QFile>

#include "tests/gui/gesture_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::usability_test {
namespace {

constexpr TimeNs kMs = 1'000'000, kUs = 1000;

class UsabilityTest : public GestureTest {
 protected:
  // Launches and kernels of 20 iterations, a gap of 3 ms, memory with a peak in conv1.
  void SetUp() override {
    GestureTest::SetUp();
    const std::string path = folder_ / "tasks.pitwall";
    auto sink = createTrace(path);
    ASSERT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const DeviceId gpu = trace.device({"gpu", 0, "a device", 0});
    const ThreadId thread = trace.thread({process, 1, "main"});
    const TrackId main = trace.track({TrackKind::thread, process, thread, {}, "", ""});
    const TrackId stream = trace.track({TrackKind::stream, process, {}, gpu, "stream 7", ""});
    const StringId launch = trace.string("cudaLaunchKernel"), gemm = trace.string("gemm"),
                   conv = trace.string("Convolution");
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = "conv1";
    facts.phase = Phase::forward;
    const OperatorId op = trace.operatorFacts(facts);
    std::vector<Event> calls, kernels;
    std::vector<Dependency> launches;
    for (int i = 0; i < 20; ++i) {
      const TimeNs at = i * kMs + (i >= 10 ? 3 * kMs : 0);
      const auto id = static_cast<CorrelationId>(2 * i + 1);
      calls.push_back({.start_ns = at,
                       .dur_ns = i == 9 ? 3'800 * kUs : 800 * kUs,
                       .name = conv,
                       .op = op,
                       .kind = EventKind::operatorRun});
      calls.push_back({.start_ns = at + 10 * kUs,
                       .dur_ns = 20 * kUs,
                       .correlation = id,
                       .name = launch,
                       .kind = EventKind::api,
                       .depth = 1});
      kernels.push_back({.start_ns = at + 50 * kUs,
                         .dur_ns = (i == 4 ? 900 : 850) * kUs,
                         .correlation = id + 1,
                         .name = gemm,
                         .kind = EventKind::kernel});
      launches.push_back({id, id + 1, DependencyKind::launch});
    }
    trace.events(main, calls);
    trace.events(stream, kernels);
    trace.dependencies(launches);
    trace.counters(trace.track({TrackKind::counter, process, {}, {}, "memory live", "bytes"}),
                   std::vector<CounterSample>{{0, 1e6}, {5 * kMs + 500 * kUs, 5e6}, {7 * kMs, 2e6}});
    for (int i = 0; i <= 20; ++i)
      trace.iteration({.index = i, .time_ns = i * kMs + (i >= 10 ? 3 * kMs : 0), .items = 32});
    ASSERT_TRUE(trace.finish().has_value());
    open(path);
    view().setFocus();
    count_ = 0;
  }
  std::size_t trackCalled(const std::string& part) {
    const auto& tracks = view().timeline()->tracks;
    for (std::size_t t = 0; t < tracks.size(); ++t) {
      if (tracks[t].title.find(part) != std::string::npos) return t;
    }
    ADD_FAILURE() << part;
    return 0;
  }
  void press(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    ++count_;
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus != nullptr ? focus : view().viewport(), which, modifiers);
  }
  void type(const QString& word) {
    ++count_;
    QTest::keyClicks(QApplication::focusWidget(), word);
  }
  void clickOn(QPointF where) {
    ++count_;
    click(where);
  }
  QPointF middleOf(std::size_t track, TimeNs time) { return at(track, 0, static_cast<double>(time)); }
  TimeNs selectedStart() {
    const EventRef& e = *view().selected();
    return view().timeline()->tracks[e.track].lanes[e.lane].startNs(e.index);
  }
  // What the document says of the task.
  static int documented(int task) {
    QFile file(QStringLiteral(PITWALL_USABILITY_DOCUMENT));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
      if (!line.startsWith(QString("| %1 |").arg(task))) continue;
      QString count = line.section('|', 4, 4).trimmed();
      EXPECT_TRUE(count.endsWith(QChar(0x2713))) << "it says that it is done here";
      return count.chopped(1).trimmed().toInt();
    }
    return -1;
  }
  void done(int task) {
    EXPECT_EQ(count_, documented(task)) << "task " << task;
    count_ = 0;
  }

  int count_ = 0;
};

TEST_F(UsabilityTest, GoingRound) {
  view().showTimes(2 * kMs, 3 * kMs);
  press(Qt::Key_0);
  EXPECT_LE(shown().start_ns, 0);
  done(1);
  const View whole = shown();
  ++count_;
  const QPointF kernel = middleOf(trackCalled("stream 7"), 4 * kMs + 400 * kUs);
  mouse(QEvent::MouseButtonDblClick, kernel);
  EXPECT_LT(shown().endNs() - shown().start_ns, 1e6);
  press(Qt::Key_Backspace);
  EXPECT_NEAR(shown().start_ns, whole.start_ns, whole.ns_per_px);
  done(2);
  view().focusTrack(trackCalled("stream 7"));
  press(Qt::Key_P);
  EXPECT_TRUE(view().rows().rows()[0].pinned);
  done(15);
  press(Qt::Key_P, Qt::ControlModifier);
  type("memory");
  EXPECT_EQ(view().rows().rows().size(), 3U) << "pinned, process, memory";
  done(16);
}

TEST_F(UsabilityTest, GapsPeaksAndPath) {
  clickOn(middleOf(trackCalled("stream 7"), 12 * kMs));
  view().focusTrack(
      trackCalled("stream 7"));  // a click on a gap selects nothing: the row is taken by its title
  count_ = 1;
  press(Qt::Key_X);
  ASSERT_TRUE(view().range().has_value());
  EXPECT_EQ(view().range()->to - view().range()->from, 3 * kMs + 150 * kUs);
  done(3);
  clickOn(middleOf(trackCalled("memory live"), 12 * kMs));
  press(Qt::Key_X);
  EXPECT_EQ(view().fixedCursor(), 5 * kMs + 500 * kUs);
  EXPECT_EQ(selectedName(), "Convolution");
  done(12);
  press(Qt::Key_C);
  EXPECT_FALSE(view().fixedCursor().has_value());
  done(13);
  press(Qt::Key_K);
  EXPECT_TRUE(view().pathOnly());
  done(14);
}

TEST_F(UsabilityTest, WhatBelongsTogether) {
  const std::size_t stream = trackCalled("stream 7"), main = trackCalled("main");
  clickOn(middleOf(stream, 4 * kMs + 400 * kUs));
  EXPECT_EQ(selectedName(), "gemm");
  press(Qt::Key_BracketLeft);
  ASSERT_TRUE(QTest::qWaitFor([&] { return selectedName() != "gemm"; }, kPatienceMs));
  EXPECT_EQ(selectedStart() / kMs, 4);
  done(5);
  clickOn(at(main, 1, 6 * kMs + 20e3));
  ASSERT_EQ(selectedName(), "cudaLaunchKernel");
  press(Qt::Key_BracketRight);
  ASSERT_TRUE(QTest::qWaitFor([&] { return selectedName() == "gemm"; }, kPatienceMs));
  EXPECT_EQ(selectedStart() / kMs, 6);
  done(6);
  clickOn(middleOf(main, 2 * kMs + 500 * kUs));
  press(Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(selectedStart(), 3 * kMs);
  done(7);
}

TEST_F(UsabilityTest, Searching) {
  QSignalSpy searched(&window_, &MainWindow::searched);
  press(Qt::Key_Slash);
  type("gemm");
  for (int i = 0; i < 3; ++i) {
    searched.clear();
    press(Qt::Key_Return);
    ASSERT_TRUE(QTest::qWaitFor([&] { return view().selected() && selectedStart() / kMs == i; }, kPatienceMs))
        << i;
  }
  done(8);
  press(Qt::Key_Escape);
  count_ = 0;
  press(Qt::Key_Slash);
  type("dur > 2ms");
  press(Qt::Key_Return);
  ASSERT_TRUE(QTest::qWaitFor([&] { return selectedName() == "Convolution"; }, kPatienceMs));
  EXPECT_EQ(selectedStart(), 9 * kMs);
  done(9);
}

TEST_F(UsabilityTest, SumsAndNotes) {
  RangeView& table = window_.rangeView();
  QSignalSpy answered(&table, &RangeView::answered);
  ++count_;
  drag(middleOf(trackCalled("main"), 500 * kUs), middleOf(trackCalled("main"), 5 * kMs), Qt::LeftButton,
       Qt::ControlModifier);
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  EXPECT_GT(table.model().rowCount(), 0);
  done(10);
  count_ = 1;  // the drag
  answered.clear();
  count_ += 2;  // opens the list and takes a line of it
  table.setGrouping(RangeGrouping::layer);
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  answered.clear();
  table.table().setFocus();
  table.table().setCurrentIndex(table.model().index(0, 0));
  press(Qt::Key_Return);
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  EXPECT_EQ(table.model().label(0), "Convolution");
  done(11);
  view().setFocus();
  press(Qt::Key_M, Qt::ShiftModifier);
  view().showTimes(10 * kMs, 11 * kMs);
  press(Qt::Key_Period, Qt::ControlModifier);
  EXPECT_LT(shown().start_ns, 5e6);
  done(17);
}

TEST_F(UsabilityTest, TheLongestKernel) {
  QSignalSpy read(&window_.tracePages().kernels(), &KernelsPage::read);
  press(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(read.count() > 0 || read.wait(kPatienceMs));
  press(Qt::Key_Return);
  EXPECT_EQ(selectedStart(), 4 * kMs + 50 * kUs);
  done(4);
}

TEST_F(UsabilityTest, WhatAChangeWouldBring) {
  SimulatePage& page = window_.simulatePage();
  QSignalSpy settled(&page, &SimulatePage::settled);
  press(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(settled.count() > 0 || settled.wait(kPatienceMs));
  settled.clear();
  type("op:gemm=0.5");
  press(Qt::Key_Return);
  ASSERT_TRUE(settled.count() > 0 || settled.wait(kPatienceMs));
  EXPECT_TRUE(page.answer().contains("An iteration takes")) << qPrintable(page.answer());
  done(21);
}

}  // namespace
}  // namespace pitwall::gui::usability_test
