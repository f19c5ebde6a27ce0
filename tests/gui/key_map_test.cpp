// Every key and gesture of the viewer's key map, performed: what it does is seen, not only that it is bound.
#include <QApplication>
#include <QFileDialog>
#include <QGestureEvent>
#include <QMenuBar>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QScrollBar>
#include <QTimer>
#include <functional>

#include "gui/app/help_sheet.h"
#include "gui/views/row_titles.h"
#include "tests/gui/gesture_fixture.h"

namespace pitwall::gui {
namespace {

class KeyMapTest : public GestureTest {
 protected:
  void keys(const char* sequence) { QTest::keySequence(view().viewport(), QKeySequence(sequence)); }
  void keysOf(QWidget* widget, const char* sequence) { QTest::keySequence(widget, QKeySequence(sequence)); }
  QWidget* focus() { return QApplication::focusWidget(); }
  QLineEdit* field(const QString& accessible_name) {
    for (QLineEdit* edit : window_.findChildren<QLineEdit*>()) {
      if (edit->accessibleName() == accessible_name) return edit;
    }
    return nullptr;
  }
  double middle() { return shown().timeAt(shown().width_px / 2.0); }
  double span() { return shown().ns_per_px * shown().width_px; }
  QPointF titleOf(std::size_t row) {
    const SceneGeometry g = view().geometryNow();
    return {30, static_cast<double>(g.top() + view().rows().rows()[row].y - g.scroll_y + 8)};
  }
  // The window has the keys again.
  void afterDialog() {
    window_.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window_, kPatienceMs));
    view().setFocus();
  }
  // Answers the next dialog, which runs until it is answered.
  void inDialog(std::function<void(QWidget*)> answer) {
    auto* timer = new QTimer(&window_);
    connect_ = QObject::connect(timer, &QTimer::timeout, [timer, answer = std::move(answer)] {
      QWidget* dialog = QApplication::activeModalWidget();
      if (dialog == nullptr) return;
      timer->deleteLater();
      timer->stop();
      answer(dialog);
    });
    timer->start(5);
  }
  static void chooseFile(QWidget* dialog, const std::string& path) {
    auto* files = qobject_cast<QFileDialog*>(dialog);
    ASSERT_NE(files, nullptr);
    auto* name = files->findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(name, nullptr);
    name->setText(QString::fromStdString(path));
    QMetaObject::invokeMethod(files, "accept");
  }
  QMetaObject::Connection connect_;
};

TEST_F(KeyMapTest, PinchZoomsAtTheFingersAndIsOneStepBack) {
  const double whole = shown().ns_per_px;
  const QPointF fingers = at(0, 0, 5e6);
  const QPointF global = view().viewport()->mapToGlobal(fingers);
  const auto native = [&](Qt::NativeGestureType type, double value) {
    QNativeGestureEvent event(type, QPointingDevice::primaryPointingDevice(), 2, fingers, fingers, global,
                              value, {});
    QApplication::sendEvent(view().viewport(), &event);
  };
  native(Qt::BeginNativeGesture, 0);
  for (int i = 0; i < 4; ++i) native(Qt::ZoomNativeGesture, 0.25);
  native(Qt::EndNativeGesture, 0);
  EXPECT_NEAR(shown().ns_per_px, whole / std::pow(1.25, 4), whole / 100);
  EXPECT_NEAR(at(0, 0, 5e6).x(), fingers.x(), 2.0);
  key(Qt::Key_Backspace);
  EXPECT_NEAR(shown().ns_per_px, whole, whole / 1000);
  native(Qt::ZoomNativeGesture, -0.5);  // apart again: out, as far as the trace goes
  EXPECT_GE(shown().ns_per_px, whole * 0.999);
  native(Qt::EndNativeGesture, 0);
  key(Qt::Key_0);

  // Two fingers on a screen.
  QPinchGesture pinch;
  pinch.setCenterPoint(global);
  pinch.setScaleFactor(2);
  QGestureEvent event({&pinch});
  QApplication::sendEvent(view().viewport(), &event);
  EXPECT_NEAR(shown().ns_per_px, whole / 2, whole / 100);
  EXPECT_NEAR(at(0, 0, 5e6).x(), fingers.x(), 2.0);
}

TEST_F(KeyMapTest, WheelWithoutAKeyAndPageKeysScrollRows) {
  for (int i = 0; i < 20; ++i) keys("Ctrl+Shift++");
  window_.resize(1300, 480);
  QApplication::processEvents();
  QScrollBar* bar = view().verticalScrollBar();
  ASSERT_GT(bar->maximum(), 0);
  wheel(at(0, 0, 5e6), {0, -120});
  EXPECT_GT(bar->value(), 0);
  wheel(at(0, 0, 5e6), {0, 240});
  EXPECT_EQ(bar->value(), 0);
  key(Qt::Key_PageDown);
  EXPECT_GT(bar->value(), 0);
  EXPECT_GT(view().focusedRow(), 0U);
  key(Qt::Key_PageUp);
  EXPECT_EQ(bar->value(), 0);
  EXPECT_EQ(view().focusedRow(), 0U);
  key(Qt::Key_Down);
  key(Qt::Key_Down);
  EXPECT_EQ(view().focusedRow(), 2U);
  key(Qt::Key_Up);
  EXPECT_EQ(view().focusedRow(), 1U);
}

TEST_F(KeyMapTest, KeysZoomAsTheLettersDo) {
  const double whole = span();
  key(Qt::Key_W);
  const double once = span();
  key(Qt::Key_0);
  keys("Ctrl++");
  EXPECT_NEAR(span(), once, once / 100);
  keys("Ctrl+-");
  EXPECT_NEAR(span(), whole, whole / 50);
  keys("Ctrl++");
  keys("Shift+S");
  EXPECT_GT(span(), 0.99 * whole);  // three times as far, or all of it
  keys("Home");
  EXPECT_NEAR(span(), whole, whole / 100);
}

TEST_F(KeyMapTest, EnterSelectsWhatHasTheFocusAndFitsIt) {
  view().focusTrack(1);
  key(Qt::Key_Return);
  EXPECT_EQ(selectedName(), "step");
  EXPECT_EQ(view().selected()->track, 1U);
  EXPECT_NEAR(span(), 990'000, 100'000);
  key(Qt::Key_0);
  key(Qt::Key_Enter);  // the one beside the digits
  EXPECT_NEAR(span(), 990'000, 100'000);
}

TEST_F(KeyMapTest, SameNameByTheKeysOfNextAndPrevious) {
  click(at(0, 1, 2.1e6));
  const std::size_t index = view().selected()->index;
  key(Qt::Key_Greater);
  EXPECT_EQ(view().selected()->index, index + 2);
  EXPECT_EQ(selectedName(), "forward");
  key(Qt::Key_Less);
  EXPECT_EQ(view().selected()->index, index);
}

TEST_F(KeyMapTest, ArrowsAreFollowedForwardAndBack) {
  const std::string path = folder_ / "arrows.pitwall";
  {
    auto sink = createTrace(path);
    ASSERT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    const TrackId host =
        trace.track({TrackKind::thread, process, trace.thread({process, 1, "main"}), {}, "", ""});
    const DeviceId device = trace.device({"gpu", 0, "a device", 0});
    const TrackId stream = trace.track({TrackKind::stream, process, {}, device, "stream 7", ""});
    const Event launch{.start_ns = 0, .dur_ns = 1000, .correlation = 1, .name = trace.string("launch")};
    const Event kernel{.start_ns = 2000, .dur_ns = 1000, .correlation = 2, .name = trace.string("kernel")};
    trace.events(host, {&launch, 1});
    trace.events(stream, {&kernel, 1});
    const Dependency arrow{1, 2, DependencyKind::launch};
    trace.dependencies({&arrow, 1});
    ASSERT_TRUE(trace.finish().has_value());
  }
  open(path);
  view().setFocus();
  window_.find("launch", true);
  const EventRef launch = *view().selected();
  ASSERT_TRUE(QTest::qWaitFor([&] { return view().arrows().size() == 1; }, kPatienceMs));
  const QImage with_arrow = view().picture();
  key(Qt::Key_BracketRight);
  EXPECT_EQ(selectedName(), "kernel");
  ASSERT_TRUE(QTest::qWaitFor([&] { return view().arrows().size() == 1; }, kPatienceMs));
  key(Qt::Key_BracketRight);  // nothing waits for it
  EXPECT_EQ(selectedName(), "kernel");
  key(Qt::Key_BracketLeft);
  EXPECT_EQ(*view().selected(), launch);
  view().setArrows({});
  EXPECT_NE(view().picture(), with_arrow);  // it had been drawn
}

TEST_F(KeyMapTest, EdgesOfARangeSnapToEventsUnlessToldNotTo) {
  const double pixel = shown().ns_per_px;
  drag(at(0, 0, 4e6 + 5 * pixel), at(0, 0, 7.9e6 - 6 * pixel));
  ASSERT_TRUE(view().range().has_value());
  EXPECT_EQ(view().range()->from, 4'000'000);  // where step begins
  EXPECT_EQ(view().range()->to, 7'900'000);    // where it ends
  drag(at(0, 0, 4.1e6), at(0, 0, 7.8e6), Qt::LeftButton, Qt::ControlModifier);
  EXPECT_NEAR(static_cast<double>(view().range()->from), 4.1e6, pixel);
  EXPECT_NEAR(static_cast<double>(view().range()->to), 7.8e6, pixel);
}

TEST_F(KeyMapTest, HowLongTheRangeIsStandsBesideItWhileItIsDrawn) {
  mouse(QEvent::MouseButtonPress, at(0, 0, 4e6));
  mouse(QEvent::MouseMove, at(0, 0, 8e6));
  const QImage during = view().grab().toImage();
  mouse(QEvent::MouseButtonRelease, at(0, 0, 8e6));
  const QImage after = view().grab().toImage();
  EXPECT_NE(during, after);
}

TEST_F(KeyMapTest, MinimapTakesHoldOfTheFrameAndZoomsToWhatIsDraggedOver) {
  const SceneGeometry g = view().geometryNow();
  const auto over = [&](double share) { return QPointF(g.titles + g.laneWidth() * share, g.minimap / 2.0); };
  const double whole = static_cast<double>(view().viewportModel().endNs() - view().viewportModel().beginNs());
  drag(over(0.2), over(0.4));
  EXPECT_NEAR(span(), 0.2 * whole * 1.1, 0.02 * whole);
  EXPECT_NEAR(middle(), 0.3 * whole, 0.02 * whole);
  const double zoomed = span();
  drag(over(0.3), over(0.6));  // the frame goes along
  EXPECT_NEAR(span(), zoomed, zoomed / 100);
  EXPECT_NEAR(middle(), 0.6 * whole, 0.02 * whole);
  click(over(0.1));  // beside it: there
  EXPECT_NEAR(span(), zoomed, zoomed / 100);
  EXPECT_NEAR(middle(), 0.1 * whole, 0.02 * whole);
  key(Qt::Key_Backspace);
  EXPECT_NEAR(middle(), 0.6 * whole, 0.02 * whole);
}

TEST_F(KeyMapTest, TitlesOpenPinAndMoveRows) {
  const auto& rows = view().rows();
  ASSERT_EQ(rows.rows().size(), 3U);  // the process, main, worker
  click(titleOf(1));
  EXPECT_FALSE(rows.rows()[1].open);
  click(titleOf(1));
  EXPECT_TRUE(rows.rows()[1].open);
  const std::size_t first = rows.rows()[1].index, second = rows.rows()[2].index;
  drag(titleOf(1), titleOf(2) + QPointF(0, 12));
  EXPECT_EQ(rows.rows()[1].index, second);
  EXPECT_EQ(rows.rows()[2].index, first);
  EXPECT_TRUE(rows.rows()[2].open);  // moved, not pressed
  keys("Ctrl+Up");
  EXPECT_EQ(rows.rows()[1].index, first);
  // The sign at the end of the title appears under the mouse.
  const QImage without = view().picture();
  const QPointF pin = pinPlace(view().geometryNow(), rows.rows()[2]).center();
  mouse(QEvent::MouseMove, pin, Qt::NoButton);
  EXPECT_NE(view().picture(), without);
  click(pin);
  EXPECT_TRUE(rows.rows()[0].pinned);
  EXPECT_EQ(rows.rows()[0].index, second);
}

TEST_F(KeyMapTest, SearchKeysGoToHitsBothWays) {
  QLineEdit* search = field("Search events");
  ASSERT_NE(search, nullptr);
  key(Qt::Key_Slash);
  EXPECT_EQ(focus(), search);
  view().setFocus();
  keys("Ctrl+F");
  EXPECT_EQ(focus(), search);
  QTest::keyClicks(search, "wait");
  std::vector<EventRef> hits;
  for (int i = 0; i < 3; ++i) {
    QTest::keyClick(search, Qt::Key_Return);
    ASSERT_EQ(selectedName(), "wait");
    hits.push_back(*view().selected());
  }
  EXPECT_NE(hits[0], hits[1]);
  QTest::keyClick(search, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(*view().selected(), hits[1]);
  QTest::keyClick(search, Qt::Key_F3);
  EXPECT_EQ(*view().selected(), hits[2]);
  QTest::keyClick(search, Qt::Key_F3, Qt::ShiftModifier);
  EXPECT_EQ(*view().selected(), hits[1]);
  // Letters typed into a field are text there.
  EXPECT_EQ(search->text(), "wait");
  QLineEdit* rows = field("Filter rows");
  ASSERT_NE(rows, nullptr);
  keysOf(search, "Ctrl+P");
  EXPECT_EQ(focus(), rows);
  QTest::keyClicks(rows, "worker");
  EXPECT_EQ(view().rows().rows().size(), 2U);
}

TEST_F(KeyMapTest, EscapeTakesBackOneThingAtATime) {
  click(at(0, 1, 2.1e6));
  key(Qt::Key_R);
  keys("Ctrl+Shift+P");
  ASSERT_TRUE(window_.commandPalette().isVisible());
  QTest::keyClick(&window_.commandPalette().line(), Qt::Key_Escape);
  EXPECT_FALSE(window_.commandPalette().isVisible());
  EXPECT_TRUE(view().range().has_value());
  view().setFocus();
  key(Qt::Key_Escape);
  EXPECT_FALSE(view().range().has_value());
  EXPECT_TRUE(view().selected().has_value());
  key(Qt::Key_Escape);
  EXPECT_FALSE(view().selected().has_value());
}

TEST_F(KeyMapTest, PaletteHelpDrawerAndGridOpenByTheirKeys) {
  for (const char* sequence : {"Ctrl+Shift+P", "Ctrl+K", ":"}) {
    view().setFocus();
    keys(sequence);
    EXPECT_TRUE(window_.commandPalette().isVisible()) << sequence;
    EXPECT_EQ(window_.commandPalette().line().text(), QString(sequence) == ":" ? ":" : "") << sequence;
    window_.commandPalette().hide();
  }
  for (const char* sequence : {"?", "Ctrl+F1", "F1"}) {
    view().setFocus();
    keys(sequence);
    auto* sheet = window_.findChild<HelpSheet*>();
    ASSERT_NE(sheet, nullptr) << sequence;
    EXPECT_TRUE(sheet->isVisible()) << sequence;
    delete sheet;
  }
  for (const char* sequence : {"Q", "F9"}) {
    view().setFocus();
    keys(sequence);
    EXPECT_FALSE(window_.detailsView().isVisibleTo(&window_)) << sequence;
    EXPECT_FALSE(window_.rangeView().parentWidget()->isVisibleTo(&window_)) << sequence;
    keys(sequence);
    EXPECT_TRUE(window_.rangeView().parentWidget()->isVisibleTo(&window_)) << sequence;
  }
  view().setFocus();
  const QImage plain = view().picture();
  keys("G");
  EXPECT_NE(view().picture(), plain);
  keys("G");
  EXPECT_EQ(view().picture(), plain);
}

TEST_F(KeyMapTest, PagesByTheirNumbers) {
  for (int page = 5; page >= 1; --page) {
    QTest::keyClick(focus(), static_cast<Qt::Key>(Qt::Key_0 + page), Qt::AltModifier);
    EXPECT_EQ(window_.pageInFront(), page - 1);
  }
  keysOf(focus(), "Ctrl+Shift+Q");
  EXPECT_EQ(window_.pageInFront(), 3);
  EXPECT_TRUE(window_.tracePages().sql().isAncestorOf(focus()));
}

TEST_F(KeyMapTest, FileKeysOpenReloadExportCloseAndQuit) {
  const std::string path = folder_ / "small.pitwall", other = folder_ / "other.pitwall";
  std::filesystem::copy_file(path, other);
  QSignalSpy shown(&window_, &MainWindow::analysisShown);
  inDialog([&](QWidget* dialog) { chooseFile(dialog, other); });
  keys("Ctrl+O");
  afterDialog();
  EXPECT_EQ(window_.session().path().toStdString(), other);
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  shown.clear();
  keys("F5");
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  EXPECT_TRUE(view().timeline());
  const std::string picture = folder_ / "view.svg";
  inDialog([&](QWidget* dialog) { chooseFile(dialog, picture); });
  view().setFocus();
  keys("Ctrl+Shift+E");
  afterDialog();
  EXPECT_GT(std::filesystem::file_size(picture), 1000U);
  // The range as a trace, which opens.
  view().selectRange(TimeRange{0, 3'000'000});
  const std::string part = folder_ / "part.pitwall";
  inDialog([&](QWidget* dialog) { chooseFile(dialog, part); });
  keys("Ctrl+Shift+R");
  afterDialog();
  ASSERT_TRUE(QTest::qWaitFor([&] { return Trace::open(part).has_value(); }, kPatienceMs));
  // B beside A.
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  inDialog([&](QWidget* dialog) { chooseFile(dialog, path); });
  keys("Ctrl+Shift+D");
  afterDialog();
  ASSERT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  window_.showPage(&view());
  keys("Ctrl+W");
  EXPECT_FALSE(view().timeline());
  keys("Ctrl+Q");
  EXPECT_FALSE(window_.isVisible());
}

// Both timelines of a comparison use the same keys.
TEST_F(KeyMapTest, TimelinesOfAComparisonAnswerToTheKeysToo) {
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  window_.compareWith(QString::fromStdString(folder_ / "small.pitwall"));
  ASSERT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  TimelineView& b = window_.comparePage().timelineB();
  b.setFocus();
  const double before = b.viewportModel().view().ns_per_px, main = shown().ns_per_px;
  QTest::keyClick(b.viewport(), Qt::Key_W);
  EXPECT_LT(b.viewportModel().view().ns_per_px, before);
  EXPECT_NEAR(window_.comparePage().timelineA().viewportModel().view().ns_per_px,
              b.viewportModel().view().ns_per_px, before / 1e6);
  EXPECT_EQ(shown().ns_per_px, main);
}

// Every action works with a trace and without one; dialogs are dismissed.
TEST_F(KeyMapTest, EveryActionOfTheMenusCanBeTriggered) {
  QTimer dismiss;
  QObject::connect(&dismiss, &QTimer::timeout, [] {
    if (auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget())) dialog->reject();
  });
  dismiss.start(5);
  std::size_t triggered = 0;
  for (const bool opened : {true, false}) {
    if (!opened) window_.closeTrace();
    for (const ActionRegistry::Entry& entry : window_.actions().entries()) {
      if (entry.id == "file.quit" || (opened && entry.id == "file.close")) continue;
      // By keyboard: its own keys, or Alt with the menu's letter and the arrow keys.
      EXPECT_TRUE(window_.actions().menu(entry.menu)->title().contains('&')) << entry.id.toStdString();
      EXPECT_TRUE(window_.menuBar()->actions().contains(window_.actions().menu(entry.menu)->menuAction()));
      entry.action->trigger();
      QApplication::processEvents();
      ++triggered;
    }
  }
  EXPECT_EQ(triggered, 2 * window_.actions().entries().size() - 3);
  EXPECT_TRUE(window_.isVisible());
}

}  // namespace
}  // namespace pitwall::gui
