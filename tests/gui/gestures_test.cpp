// Every gesture and key of the timeline, and what assistive technology is given.
#include <QAccessible>
#include <QDropEvent>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollBar>
#include <QWheelEvent>

#include "tests/gui/gesture_fixture.h"

namespace pitwall::gui::gestures_test {
namespace {

TEST_F(GestureTest, WheelZoomsAtTheMouseAndPans) {
  const QPointF mouse_at = at(0, 0, 5e6);
  const double whole = shown().ns_per_px;
  wheel(mouse_at, {0, 240}, Qt::ControlModifier);
  EXPECT_LT(shown().ns_per_px, whole);
  EXPECT_NEAR(at(0, 0, 5e6).x(), mouse_at.x(), 1.0);  // the time under the mouse stays
  wheel(mouse_at, {0, 1200}, Qt::ControlModifier);
  EXPECT_NEAR(at(0, 0, 5e6).x(), mouse_at.x(), 2.0);  // views begin at whole pixels
  const double before = shown().start_ns;
  wheel(mouse_at, {0, -120}, Qt::ShiftModifier);
  EXPECT_GT(shown().start_ns, before);
  wheel(mouse_at, {120, 0});  // sideways, as touch pads do
  EXPECT_NEAR(shown().start_ns, before, shown().ns_per_px);
  // Rows scroll when there are more than fit.
  for (int i = 0; i < 20; ++i) view().taller();
  window_.resize(1300, 520);
  QApplication::processEvents();
  if (view().verticalScrollBar()->maximum() > 0) {
    wheel(mouse_at, {0, -120});
    EXPECT_GT(view().verticalScrollBar()->value(), 0);
  }
}

TEST_F(GestureTest, DragsSelectExtendZoomAndPan) {
  drag(at(0, 0, 4e6), at(0, 0, 8e6));
  ASSERT_TRUE(view().range().has_value());
  const double pixel = shown().ns_per_px;
  EXPECT_NEAR(static_cast<double>(view().range()->from), 4e6, pixel);
  EXPECT_NEAR(static_cast<double>(view().range()->to), 8e6, pixel);
  drag(at(0, 0, 8e6), at(0, 0, 9e6));  // its edge is a handle
  EXPECT_NEAR(static_cast<double>(view().range()->from), 4e6, pixel);
  EXPECT_NEAR(static_cast<double>(view().range()->to), 9e6, 4 * pixel);
  click(at(0, 0, 12e6), Qt::ShiftModifier);  // extends
  EXPECT_NEAR(static_cast<double>(view().range()->to), 12e6, pixel);
  EXPECT_NEAR(static_cast<double>(view().range()->from), 4e6, pixel);
  key(Qt::Key_Z);
  EXPECT_NEAR(shown().timeAt(shown().width_px / 2.0), 8e6, 5 * pixel);
  key(Qt::Key_Escape);

  key(Qt::Key_Home);
  drag(at(0, 0, 10e6), at(0, 0, 11e6), Qt::LeftButton, Qt::AltModifier);  // zooms there
  EXPECT_FALSE(view().range().has_value());
  EXPECT_NEAR(shown().ns_per_px * shown().width_px, 1.1e6, 0.1e6);
  const double start = shown().start_ns;
  const QPointF here = at(0, 0, 10.5e6);
  drag(here, here + QPointF(100, 0), Qt::MiddleButton);
  EXPECT_NEAR(shown().start_ns, start - 100 * shown().ns_per_px, shown().ns_per_px);
  QTest::keyPress(view().viewport(), Qt::Key_Space);
  drag(here, here - QPointF(100, 0));
  QTest::keyRelease(view().viewport(), Qt::Key_Space);
  EXPECT_NEAR(shown().start_ns, start, shown().ns_per_px);
  EXPECT_FALSE(view().range().has_value());
  // The minimap: a press goes there.
  const SceneGeometry g = view().geometryNow();
  click({g.titles + g.laneWidth() * 0.25, g.minimap / 2.0});
  EXPECT_NEAR(shown().timeAt(shown().width_px / 2.0), 5e6, 0.1e6);
}

TEST_F(GestureTest, ADragTakesTheRowsUnderItAndFromTheRulerAll) {
  QSignalSpy answered(&window_.rangeView(), &RangeView::answered);
  drag(at(1, 0, 4e6), at(1, 1, 8e6));
  EXPECT_EQ(view().range()->tracks, std::vector<std::size_t>{1});
  ASSERT_TRUE(answered.wait(kPatienceMs));
  const auto counted = [&] {
    std::int64_t count = 0;
    for (int row = 0; row < window_.rangeView().model().rowCount(); ++row)
      count += window_.rangeView().model().row(row).count;
    return count;
  };
  const auto expected = [&] {
    std::int64_t count = 0;
    for (const AggregateRow& row :
         aggregate(*view().timeline(), view().range()->tracks, view().range()->from, view().range()->to))
      count += row.count;
    return count;
  };
  EXPECT_EQ(counted(), expected());
  EXPECT_GE(counted(), 12) << "4 ms of one thread";
  EXPECT_LE(counted(), 15);
  drag(at(0, 0, 12e6), at(1, 1, 16e6));
  EXPECT_EQ(view().range()->tracks, (std::vector<std::size_t>{0, 1}));
  ASSERT_TRUE(answered.wait(kPatienceMs));
  EXPECT_EQ(counted(), expected());
  EXPECT_GE(counted(), 24);
  // An edge that is dragged keeps the rows.
  drag(at(0, 0, 16e6), at(0, 0, 18e6));
  EXPECT_EQ(view().range()->tracks.size(), 2U);
  const SceneGeometry g = view().geometryNow();
  const double ruler = g.minimap + g.ruler / 2.0;
  drag({g.titles + shown().xOf(1e6), ruler}, {g.titles + shown().xOf(3e6), ruler});
  EXPECT_TRUE(view().range()->tracks.empty());
}

TEST_F(GestureTest, TheTitlesHaveASplitter) {
  const int before = view().geometryNow().titles;
  const double y = view().geometryNow().top() + 60.0;
  drag({static_cast<double>(before), y}, {before + 80.0, y});
  EXPECT_EQ(view().geometryNow().titles, before + 80);
  EXPECT_EQ(window_.comparePage().timelineA().titlesWidth(), before + 80) << "all timelines alike";
  EXPECT_EQ(MainWindow().timelineView().titlesWidth(), before + 80) << "it is kept";
  key(Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_LT(view().geometryNow().titles, before + 80);
  EXPECT_EQ(shown().width_px, view().geometryNow().laneWidth());
  const double edge = view().geometryNow().titles;
  mouse(QEvent::MouseButtonDblClick, {edge, y});
  EXPECT_LT(view().geometryNow().titles, before) << "short titles need less";
}

TEST_F(GestureTest, ClicksSelectFitAndReset) {
  click(at(1, 1, 7.2e6));
  EXPECT_EQ(selectedName(), "forward");
  EXPECT_EQ(view().selected()->track, 1U);
  key(Qt::Key_F);
  EXPECT_NEAR(shown().timeAt(shown().width_px / 2.0), 7.251e6, 0.02e6);
  const double centred = shown().ns_per_px;
  key(Qt::Key_F);
  EXPECT_LT(shown().ns_per_px, centred);
  EXPECT_NEAR(shown().ns_per_px * shown().width_px, 550'000, 60'000);
  const SceneGeometry g = view().geometryNow();
  mouse(QEvent::MouseButtonDblClick, {g.titles + 50.0, g.minimap + g.ruler / 2.0});  // the ruler
  EXPECT_NEAR(shown().ns_per_px, centred, centred / 100);
  mouse(QEvent::MouseButtonDblClick, at(0, 0, 3.4e6));
  EXPECT_EQ(selectedName(), "step");
  EXPECT_NEAR(shown().ns_per_px * shown().width_px, 990'000, 100'000);
  key(Qt::Key_0);
  key(Qt::Key_Return);
  EXPECT_NEAR(shown().ns_per_px * shown().width_px, 990'000, 100'000);
  key(Qt::Key_Left, Qt::AltModifier);
  EXPECT_NEAR(shown().ns_per_px, centred, centred / 100);
  key(Qt::Key_Right, Qt::AltModifier);
  EXPECT_LT(shown().ns_per_px, centred);
  key(Qt::Key_Escape);
  EXPECT_FALSE(view().selected().has_value());
}

TEST_F(GestureTest, KeysMoveAmongEventsAndRows) {
  click(at(0, 1, 2.1e6));
  ASSERT_EQ(selectedName(), "forward");
  const std::size_t index = view().selected()->index;
  key(Qt::Key_Period);
  EXPECT_EQ(selectedName(), "wait");
  key(Qt::Key_Comma);
  key(Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(selectedName(), "forward");
  EXPECT_EQ(view().selected()->index, index + 2);
  key(Qt::Key_Left, Qt::ShiftModifier);
  EXPECT_EQ(view().selected()->index, index);

  const std::size_t row = view().focusedRow();
  key(Qt::Key_Down);
  EXPECT_EQ(view().focusedRow(), row + 1);
  key(Qt::Key_P);
  EXPECT_TRUE(view().rows().rows()[0].pinned);
  key(Qt::Key_P);
  EXPECT_FALSE(view().rows().rows()[0].pinned);
  const std::size_t rows = view().rows().rows().size();
  key(Qt::Key_H);
  EXPECT_EQ(view().rows().rows().size(), rows - 1);
  key(Qt::Key_H, Qt::ShiftModifier);
  EXPECT_EQ(view().rows().rows().size(), rows);
}

TEST_F(GestureTest, ContextMenuOffersWhatTheKeysDo) {
  QContextMenuEvent event(QContextMenuEvent::Mouse, at(0, 1, 2.2e6).toPoint(),
                          view().viewport()->mapToGlobal(at(0, 1, 2.2e6)).toPoint());
  QApplication::sendEvent(view().viewport(), &event);
  EXPECT_EQ(selectedName(), "forward");
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  ASSERT_NE(menu, nullptr);
  EXPECT_TRUE(menu->actions().contains(window_.actions().find("select.as_range")));
  menu->close();
}

TEST_F(GestureTest, DroppedFilesAreOpenedAndCompared) {
  const QString path = QString::fromStdString(folder_ / "small.pitwall");
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(path), QUrl::fromLocalFile(path)});
  QDragEnterEvent enter({5, 5}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QSignalSpy loaded(&window_, &MainWindow::loaded);
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  QDropEvent drop({5, 5}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &drop);
  auto* question = window_.findChild<QMessageBox*>("several_files");
  ASSERT_NE(question, nullptr);
  QTest::mouseClick(question->findChild<QPushButton*>("compare"), Qt::LeftButton);
  EXPECT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  EXPECT_EQ(loaded.count(), 1);
  // Text is no file.
  QMimeData text;
  text.setText("x");
  QDragEnterEvent other({5, 5}, Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window_, &other);
  EXPECT_FALSE(other.isAccepted());
}

TEST_F(GestureTest, AccessibilityTreeNamesRowsSelectionAndView) {
  QAccessible::setActive(true);
  QAccessibleInterface* timeline = QAccessible::queryAccessibleInterface(&view());
  ASSERT_NE(timeline, nullptr);
  EXPECT_EQ(timeline->role(), QAccessible::List);
  EXPECT_EQ(timeline->text(QAccessible::Name), "Timeline");
  EXPECT_TRUE(timeline->text(QAccessible::Value).contains(" of 20"))
      << timeline->text(QAccessible::Value).toStdString();
  ASSERT_EQ(timeline->childCount(), static_cast<int>(view().rows().rows().size()));
  QAccessibleInterface* row = timeline->child(1);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(timeline->indexOfChild(row), 1);
  EXPECT_EQ(row->parent(), timeline);
  EXPECT_TRUE(row->text(QAccessible::Name).contains("main")) << row->text(QAccessible::Name).toStdString();
  EXPECT_EQ(row->text(QAccessible::Description), "60 events");
  EXPECT_TRUE(row->state().expandable);
  EXPECT_FALSE(row->rect().isEmpty());

  click(at(0, 1, 2.2e6));
  QAccessibleInterface* event = timeline->focusChild();
  ASSERT_NE(event, nullptr);
  EXPECT_TRUE(event->text(QAccessible::Name).startsWith("forward, 500 us, on "))
      << event->text(QAccessible::Name).toStdString();
  EXPECT_TRUE(event->state().selected);
  EXPECT_EQ(event->parent(), row);
  EXPECT_EQ(row->childCount(), 1);
  EXPECT_EQ(row->childAt(event->rect().center().x(), event->rect().center().y()), event);
  EXPECT_TRUE(timeline->text(QAccessible::Description).contains("forward"));

  QAccessibleValueInterface* zoom = timeline->valueInterface();
  ASSERT_NE(zoom, nullptr);
  EXPECT_NEAR(zoom->currentValue().toDouble(), 100, 0.1);
  zoom->setCurrentValue(10);
  EXPECT_NEAR(shown().ns_per_px * shown().width_px, 2e6, 0.05e6);
  QAccessible::setActive(false);
}

}  // namespace
}  // namespace pitwall::gui::gestures_test
