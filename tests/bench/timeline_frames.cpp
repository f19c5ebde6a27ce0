#include "tests/bench/timeline_frames.h"

#include <fmt/format.h>

#include <QApplication>
#include <QWheelEvent>
#include <optional>

#include "gui/timeline/palette.h"
#include "gui/views/timeline_view.h"
#include "tests/bench/timeline_trace.h"

namespace pitwall::bench {
namespace {

constexpr int kWidth = 1920, kHeight = 1080;

// A separate timeline, whose frames can be drawn one by one.
class Stage {
 public:
  Stage(const std::shared_ptr<const gui::Timeline>& timeline, int lane_height) {
    view_.resize(kWidth, kHeight);
    view_.setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view_.setFrameShape(QFrame::NoFrame);
    view_.show();
    view_.setTimeline(timeline);
    for (int i = 0; i < 40 && view_.rows().metrics().lane > lane_height; ++i) view_.lower();
    for (int i = 0; i < 40 && view_.rows().metrics().lane < lane_height; ++i) view_.taller();
    QApplication::processEvents();
    frame();
  }
  gui::TimelineView& view() { return view_; }
  void frame() { view_.viewport()->repaint(); }

  int lanesInView() const {
    const int room = kHeight - view_.geometryNow().top();
    int lanes = 0;
    for (const gui::Row& row : view_.rows().rows()) lanes += row.y + row.height <= room ? row.lanes : 0;
    return lanes;
  }
  void wheel(int turned, Qt::KeyboardModifiers with) {
    const QPointF at(kWidth / 2.0, kHeight / 2.0);
    QWheelEvent event(at, view_.viewport()->mapToGlobal(at), {}, {0, turned}, Qt::NoButton, with,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(view_.viewport(), &event);
  }
  // Two views of almost equal scale in turn: nothing of the last picture can be reused.
  void fullRedraw(int i) {
    const gui::Viewport& model = view_.viewportModel();
    view_.showTimes(model.beginNs(), model.endNs() + i % 2);
    frame();
  }
  void dragBy(int pixels) {
    const auto send = [&](QEvent::Type type, const QPointF& at, Qt::MouseButton button) {
      QMouseEvent event(type, at, view_.viewport()->mapToGlobal(at), button, Qt::MiddleButton, {});
      QApplication::sendEvent(view_.viewport(), &event);
    };
    const QPointF from(kWidth / 2.0, kHeight / 2.0);
    send(QEvent::MouseButtonPress, from, Qt::MiddleButton);
    send(QEvent::MouseMove, from + QPointF(pixels, 0), Qt::NoButton);
    send(QEvent::MouseButtonRelease, from + QPointF(pixels, 0), Qt::MiddleButton);
  }

 private:
  gui::TimelineView view_;
};

void showPart(Stage& stage, double share) {
  const gui::Viewport& model = stage.view().viewportModel();
  const double span = static_cast<double>(model.endNs() - model.beginNs());
  const double middle = static_cast<double>(model.beginNs()) + span / 2;
  stage.view().showTimes(static_cast<qint64>(middle - span * share / 2),
                         static_cast<qint64>(middle + span * share / 2));
  stage.frame();
}

// The cost of a frame that draws each event with QPainter.
void measureNaive(const gui::Timeline& timeline, Stage& stage) {
  QImage image(kWidth, kHeight, QImage::Format_RGB32);
  const gui::View& view = stage.view().viewportModel().view();
  Times times;
  for (int i = 0; i < 3; ++i) {
    times.measure([&] {
      QPainter painter(&image);
      painter.fillRect(0, 0, kWidth, kHeight, Qt::white);
      int y = 0;
      for (const gui::TimelineTrack& track : timeline.tracks) {
        for (const gui::Lane& lane : track.lanes) {
          for (std::size_t e = 0; e < lane.size(); ++e) {
            const double x0 = view.xOf(static_cast<double>(lane.startNs(e)));
            const double x1 = view.xOf(static_cast<double>(lane.endNs(e)));
            painter.fillRect(QRectF(x0, y, std::max(1.0, x1 - x0), 3),
                             QColor(gui::Palette::light().color[lane.color(e)]));
          }
          y += 4;
        }
      }
    });
  }
  line("reference: every event drawn with QPainter", times.text(), "(baseline)");
}

void measureMovements(Stage& stage, int frames, const char* where) {
  Times drag, key, down;
  for (int i = 0; i < frames; ++i) {
    drag.measure([&] {
      stage.dragBy(i / 20 % 2 == 0 ? -12 : 12);
      stage.frame();
    });
  }
  for (int i = 0; i < frames; ++i) {
    key.measure([&] {
      i / 4 % 2 == 0 ? stage.view().panRight() : stage.view().panLeft();
      stage.frame();
    });
  }
  line(fmt::format("panned by 12 pixels, {}", where), drag.text(), "to reach: median 1, p99 2");
  line(fmt::format("panned by a tenth of the width, {}", where), key.text(), "");
}

void measureZoom(Stage& stage, int frames, std::string_view what, std::string_view target) {
  stage.view().showAll();
  stage.frame();
  Times times;
  for (int i = 0; i < frames; ++i) {
    if (i % 100 == 0) stage.view().showAll();
    times.measure([&] {
      stage.wheel(i % 100 < 99 ? 120 : -120, Qt::ControlModifier);
      stage.frame();
    });
  }
  line(what, times.text(), target);
}

}  // namespace

double measureFrames(const std::shared_ptr<const gui::Timeline>& timeline, int frames) {
  double full_median = 0;
  {
    Stage stage(timeline, 3);
    fmt::print("{} events, {} lanes in view, 1920 x 1080\n", timeline->events, stage.lanesInView());
    Times full;
    for (int i = 0; i < frames; ++i) full.measure([&] { stage.fullRedraw(i); });
    full_median = full.median();
    line("full redraw, the whole trace", full.text(), "to reach: median 5, p99 10");
    measureNaive(*timeline, stage);
    measureMovements(stage, frames, "the whole trace");
    showPart(stage, 0.1);
    measureMovements(stage, frames, "a tenth of it");
    measureZoom(stage, frames, "zoomed in step by step, all lanes", "");
  }
  Stage stage(timeline, 16);
  fmt::print("{} lanes with labels\n", stage.lanesInView());
  measureZoom(stage, frames, "zoomed in step by step", "to reach: median 1.5");
  stage.view().showAll();
  for (int i = 0; i < 60; ++i) stage.wheel(120, Qt::ControlModifier);
  measureMovements(stage, frames, "labels in view");
  return full_median;
}

void measureManyTracks(const std::shared_ptr<const gui::Timeline>& timeline, int frames) {
  Times first, full, filter;
  std::optional<Stage> stage;
  first.measure([&] { stage.emplace(timeline, 16); });
  for (int i = 0; i < frames; ++i) full.measure([&] { stage->fullRedraw(i); });
  for (int i = 0; i < 10; ++i) {
    filter.measure([&] {
      stage->view().setRowFilter(QString::number(i));
      stage->frame();
    });
  }
  line("their first frame", first.text(), "");
  line("full redraw", full.text(), "to reach: median 5, p99 10");
  line("rows filtered by a digit", filter.text(), "");
}

void measureLarge(const std::shared_ptr<const gui::Timeline>& timeline, int frames, double full) {
  Stage stage(timeline, 3);
  fmt::print("{} events, {} lanes in view\n", timeline->events, stage.lanesInView());
  Times times;
  for (int i = 0; i < frames; ++i) times.measure([&] { stage.fullRedraw(i); });
  line("full redraw, the whole trace", times.text(), "");
  line("as a ratio to the smaller trace", fmt::format("{:.2f}", times.median() / full), "to reach: 1.2");
  measureMovements(stage, frames, "the whole trace");
}

}  // namespace pitwall::bench
