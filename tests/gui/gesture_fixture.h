// Mouse, wheel and keys over the timeline of a small trace.
#pragma once

#include <QMouseEvent>
#include <QWheelEvent>

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui {

class GestureTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1300, 800);
    window_.show();
    open(smallTrace());
    view().setFocus();
  }

  TimelineView& view() { return window_.timelineView(); }
  const View& shown() { return view().viewportModel().view(); }
  QPointF at(std::size_t track, std::size_t lane, double time_ns) {
    const SceneGeometry g = view().geometryNow();
    const Row& row = view().rows().rows()[static_cast<std::size_t>(view().rows().rowOfTrack(track))];
    const int height = view().rows().metrics().lane;
    return {g.titles + shown().xOf(time_ns),
            static_cast<double>(g.top() + row.y - g.scroll_y + static_cast<int>(lane) * height + height / 2)};
  }
  void mouse(QEvent::Type type, QPointF where, Qt::MouseButton button = Qt::LeftButton,
             Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWidget* target = view().viewport();
    QMouseEvent event(type, where, target->mapToGlobal(where),
                      type == QEvent::MouseMove ? Qt::NoButton : button, button, modifiers);
    QApplication::sendEvent(target, &event);
  }
  void drag(QPointF from, QPointF to, Qt::MouseButton button = Qt::LeftButton,
            Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    mouse(QEvent::MouseButtonPress, from, button, modifiers);
    mouse(QEvent::MouseMove, (from + to) / 2, button, modifiers);
    mouse(QEvent::MouseMove, to, button, modifiers);
    mouse(QEvent::MouseButtonRelease, to, button, modifiers);
  }
  void click(QPointF where, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    mouse(QEvent::MouseButtonPress, where, Qt::LeftButton, modifiers);
    mouse(QEvent::MouseButtonRelease, where, Qt::LeftButton, modifiers);
  }
  void wheel(QPointF where, QPoint turned, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(where, view().viewport()->mapToGlobal(where), {}, turned, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(view().viewport(), &event);
  }
  std::string selectedName() {
    if (!view().selected()) return "";
    const EventRef& e = *view().selected();
    return view().timeline()->name(view().timeline()->tracks[e.track].lanes[e.lane].name(e.index));
  }
};

}  // namespace pitwall::gui
