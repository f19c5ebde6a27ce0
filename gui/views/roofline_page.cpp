#include "gui/views/roofline_page.h"

#include <QCoreApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPointer>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

constexpr double kLeastRadius = 3, kGreatestRadius = 14;
constexpr std::size_t kMostTitles = 12;

QString scaled(double value, const char* unit) { return QString::fromStdString(showScaled(value, unit)); }

}  // namespace

RooflinePlot::RooflinePlot(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Roofline plot"));
  setMinimumSize(240, 160);
}

void RooflinePlot::setPoints(std::vector<RooflinePoint> points, const MachineRoofline& machine) {
  points_ = std::move(points);
  machine_ = machine;
  x_ = {1e9, -1e9};
  y_ = {1e9, -1e9};
  const auto hold = [](Axis& axis, double value) {
    axis.least = std::min(axis.least, std::log10(value));
    axis.greatest = std::max(axis.greatest, std::log10(value));
  };
  for (const RooflinePoint& point : points_) {
    hold(x_, point.flop_per_byte);
    hold(y_, point.flop_per_second);
  }
  // The corner of the limits is in view, and they are drawn to the edges.
  if (!points_.empty() && machine.flop_per_second > 0 && machine.bytes_per_second > 0)
    hold(x_, machine.flop_per_second / machine.bytes_per_second);
  if (!points_.empty() && machine.flop_per_second > 0) hold(y_, machine.flop_per_second);
  for (Axis* axis : {&x_, &y_}) {
    axis->least -= 0.3;
    axis->greatest += 0.3;
  }
  choose(-1);
}

void RooflinePlot::setMessage(const QString& message) {
  message_ = message;
  update();
}

QRectF RooflinePlot::plot() const {
  const int line = fontMetrics().height();
  return QRectF(rect()).adjusted(fontMetrics().horizontalAdvance("888.8 GFLOP/s") + 12, line, -16,
                                 -2 * line - 8);
}

QPointF RooflinePlot::place(double flop_per_byte, double flop_per_second) const {
  const QRectF area = plot();
  const double x = (std::log10(flop_per_byte) - x_.least) / (x_.greatest - x_.least);
  const double y = (std::log10(flop_per_second) - y_.least) / (y_.greatest - y_.least);
  return {area.left() + x * area.width(), area.bottom() - y * area.height()};
}

QPointF RooflinePlot::placeOf(const RooflinePoint& point) const {
  return place(point.flop_per_byte, point.flop_per_second);
}

QPointF RooflinePlot::limitAt(double flop_per_byte) const {
  return place(flop_per_byte, allowedRate(machine_, flop_per_byte));
}

// Its area says the time.
double RooflinePlot::radiusOf(const RooflinePoint& point) const {
  const double part =
      static_cast<double>(point.time_ns) / static_cast<double>(std::max<TimeNs>(1, points_.front().time_ns));
  return std::max(kLeastRadius, kGreatestRadius * std::sqrt(part));
}

// The smallest one there: it may be in front of a larger one.
int RooflinePlot::pointAt(const QPointF& at) const {
  for (std::size_t i = points_.size(); i-- > 0;) {
    const QPointF off = at - placeOf(points_[i]);
    if (std::hypot(off.x(), off.y()) <= radiusOf(points_[i]) + 2) return static_cast<int>(i);
  }
  return -1;
}

void RooflinePlot::choose(int point) {
  chosen_ = point;
  setAccessibleDescription(point < 0 ? QString()
                                     : inWords(points_[static_cast<std::size_t>(point)], machine_));
  update();
  emit chosenChanged();
}

void RooflinePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  painter.setPen(palette().color(QPalette::Text));
  if (points_.empty()) {
    painter.drawText(rect().adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, message_);
    return;
  }
  paintGrid(painter);
  painter.setRenderHint(QPainter::Antialiasing, true);
  paintLimits(painter);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    QColor color(points_[i].on_device ? QColor(213, 94, 0) : QColor(0, 114, 178));
    color.setAlpha(150);
    painter.setBrush(color);
    const bool is_chosen = static_cast<int>(i) == chosen_;
    painter.setPen(QPen(is_chosen ? palette().color(QPalette::Text) : color.darker(130), is_chosen ? 3 : 1));
    const double radius = radiusOf(points_[i]);
    painter.drawEllipse(placeOf(points_[i]), radius, radius);
  }
  paintTitles(painter);
  if (hasFocus()) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(palette().color(QPalette::Highlight));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

// A line for each power of ten.
void RooflinePlot::paintGrid(QPainter& painter) const {
  const QRectF area = plot();
  const int line = fontMetrics().height();
  QColor pale = palette().color(QPalette::Text);
  pale.setAlpha(40);
  const auto values = [](const Axis& axis) {
    std::vector<double> powers;
    for (double p = std::ceil(axis.least); p <= axis.greatest; ++p) powers.push_back(std::pow(10, p));
    return powers;
  };
  for (const double x : values(x_)) {
    const double at = place(x, std::pow(10, y_.least)).x();
    painter.setPen(pale);
    painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(at - 60, area.bottom() + 2, 120, line), Qt::AlignCenter,
                     QString::fromStdString(showReal(x)));
  }
  for (const double y : values(y_)) {
    const double at = place(std::pow(10, x_.least), y).y();
    painter.setPen(pale);
    painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(0, at - line / 2.0, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter,
                     scaled(y, "FLOP/s"));
  }
  painter.drawText(QRectF(area.left(), area.bottom() + line + 4, area.width(), line), Qt::AlignCenter,
                   tr("FLOP per byte of operands"));
}

void RooflinePlot::paintLimits(QPainter& painter) const {
  const QRectF area = plot();
  if (allowedRate(machine_, 1) <= 0) return;
  painter.save();
  painter.setClipRect(area);
  painter.setPen(QPen(palette().color(QPalette::Text), 2));
  const double left = std::pow(10, x_.least), right = std::pow(10, x_.greatest);
  std::vector<double> at{left, right};
  if (machine_.flop_per_second > 0 && machine_.bytes_per_second > 0)
    at.insert(at.begin() + 1, std::clamp(machine_.flop_per_second / machine_.bytes_per_second, left, right));
  for (std::size_t i = 1; i < at.size(); ++i) painter.drawLine(limitAt(at[i - 1]), limitAt(at[i]));
  painter.restore();
  if (machine_.flop_per_second > 0) {
    const QString text = tr("processors: %1").arg(scaled(machine_.flop_per_second, "FLOP/s"));
    const QPointF end = place(right, machine_.flop_per_second);
    painter.drawText(QPointF(area.right() - fontMetrics().horizontalAdvance(text) - 4, end.y() - 4), text);
  }
  if (machine_.bytes_per_second > 0) {
    // Beside the line, a little above the lower edge.
    const double rate = std::pow(10, y_.least + 0.15 * (y_.greatest - y_.least));
    const QPointF on_line = place(rate / machine_.bytes_per_second, rate);
    painter.drawText(QPointF(std::max(area.left() + 6, on_line.x() + 10), on_line.y()),
                     tr("memory: %1").arg(scaled(machine_.bytes_per_second, "B/s")));
  }
}

// Of those that take the most time, as far as they do not cover each other.
void RooflinePlot::paintTitles(QPainter& painter) const {
  painter.setPen(palette().color(QPalette::Text));
  std::vector<QRectF> taken;
  for (std::size_t i = 0; i < std::min(points_.size(), kMostTitles); ++i) {
    const QPointF at = placeOf(points_[i]);
    const QString text = fontMetrics().elidedText(points_[i].title, Qt::ElideMiddle, 220);
    QRectF room(at.x() + radiusOf(points_[i]) + 3, at.y() - fontMetrics().height() / 2.0,
                fontMetrics().horizontalAdvance(text), fontMetrics().height());
    if (room.right() > width()) room.moveRight(at.x() - radiusOf(points_[i]) - 3);
    if (std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(room); })) continue;
    painter.drawText(room, Qt::AlignVCenter, text);
    taken.push_back(room);
  }
}

void RooflinePlot::mousePressEvent(QMouseEvent* event) { choose(pointAt(event->position())); }

void RooflinePlot::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int point = pointAt(event->position()); point >= 0) emit activated(point);
}

void RooflinePlot::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(points_.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Right: return choose(std::min(last, chosen_ + 1));
    case Qt::Key_Left: return choose(last < 0 ? -1 : std::max(0, chosen_ - 1));
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (chosen_ >= 0) emit activated(chosen_);
      return;
    default: QWidget::keyPressEvent(event);
  }
}

bool RooflinePlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int point = pointAt(help->pos());
  const QString text = point < 0 ? QString() : inWords(points_[static_cast<std::size_t>(point)], machine_);
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

RooflinePage::RooflinePage(TraceSession* session, QWidget* parent)
    : Page(parent),
      session_(session),
      plot_(new RooflinePlot),
      state_(new WrappedLabel),
      chosen_(new WrappedLabel) {
  chosen_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->addWidget(state_);
  column->addWidget(plot_, 1);
  column->addWidget(chosen_);
  setFocusProxy(plot_);
  connect(plot_, &RooflinePlot::chosenChanged, this, [this] {
    const int point = plot_->chosen();
    chosen_->setText(
        point < 0 ? tr("A click or the arrow keys choose an operator; Return or a double click shows it "
                       "on the timeline.")
                  : inWords(plot_->points()[static_cast<std::size_t>(point)], plot_->machine()));
  });
  connect(plot_, &RooflinePlot::activated, this, [this](int point) {
    const RooflinePoint& chosen = plot_->points()[static_cast<std::size_t>(point)];
    emit operatorActivated(
        QString::fromStdString(chosen.layer.empty() ? chosen.name : "layer:" + chosen.layer));
  });
  setReport(nullptr);
}

void RooflinePage::setReport(ReportPtr report) {
  report_ = std::move(report);
  plot_->setPoints({}, {});
  if (!report_) {
    state_->clear();
    return plot_->setMessage(tr("No trace is open, or it is not analysed yet."));
  }
  plot_->setMessage(tr("Reading ..."));
  session_->ask([self = QPointer<RooflinePage>(this), report = report_](Trace& trace) {
    const MachineRoofline machine = machineRoofline(trace);
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, report, machine] {
          if (self && self->report_ == report) self->show(machine);
        },
        Qt::QueuedConnection);
  });
}

void RooflinePage::show(const MachineRoofline& machine) {
  auto points = rooflinePoints(*report_);
  const bool any_of_cpus = std::ranges::any_of(points, [](const RooflinePoint& p) { return !p.on_device; });
  plot_->setMessage(
      tr("No operator of this trace has both its FLOP and its bytes recorded, so that there is nothing to "
         "plot."));
  if (points.empty()) {
    state_->clear();
  } else if (!any_of_cpus) {
    state_->setText(
        tr("%n operators on devices, whose peak rates are unknown. A circle's area is the operator's time.",
           nullptr, static_cast<int>(points.size())));
  } else if (allowedRate(machine, 1) <= 0) {
    state_->setText(
        tr("The machine's peak rates are not in this trace: 'pitwall env --calibrate' measures them for the "
           "recordings that follow. The area of a circle is the time."));
  } else {
    state_->setText(
        tr("%n operators. The line is what memory and processors allow; data that caches hold can exceed it. "
           "A circle's area is "
           "the operator's time.",
           nullptr, static_cast<int>(points.size())));
  }
  plot_->setPoints(std::move(points), any_of_cpus ? machine : MachineRoofline{});
  emit shown();
}

}  // namespace pitwall::gui
