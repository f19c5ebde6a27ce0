#include "gui/views/histogram_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

constexpr int kBins = 64;

QString duration(TimeNs ns) { return QString::fromStdString(showDuration(static_cast<double>(ns))); }
QString count(std::int64_t n) { return QString::fromStdString(showCount(n)); }

}  // namespace

HistogramChart::HistogramChart(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Histogram of durations"));
  setMinimumHeight(fontMetrics().height() * 6);
}

void HistogramChart::setHistogram(DurationHistogram histogram, std::optional<TimeNs> selected_dur) {
  histogram_ = std::move(histogram);
  selected_dur_ = selected_dur;
  choose(-1);
}

void HistogramChart::setMessage(const QString& message) {
  message_ = message;
  update();
}

QString HistogramChart::textOf(int bar) const {
  if (bar < 0 || static_cast<std::size_t>(bar) >= histogram_.bins.size()) return {};
  const DurationHistogram::Bin& bin = histogram_.bins[static_cast<std::size_t>(bar)];
  const double share = static_cast<double>(bin.count) / static_cast<double>(histogram_.facts.count);
  return tr("%1 to %2: %3 events, %4")
      .arg(duration(bin.from_ns), duration(bin.to_ns), count(bin.count),
           QString::fromStdString(showShare(share)));
}

void HistogramChart::choose(int bar) {
  chosen_ = bar;
  setAccessibleDescription(textOf(bar));
  update();
  emit chosenChanged();
}

QRectF HistogramChart::plot() const {
  const int line = fontMetrics().height();
  const int left = fontMetrics().horizontalAdvance(count(histogram_.most)) + 12;
  return QRectF(rect()).adjusted(left, 2 * line + 4, -12, -line - 6);
}

QRectF HistogramChart::barOf(std::size_t bar) const {
  const QRectF area = plot();
  const double width = area.width() / static_cast<double>(histogram_.bins.size());
  const double share = static_cast<double>(histogram_.bins[bar].count) / static_cast<double>(histogram_.most);
  // A bin that is not empty is visible.
  const double height = histogram_.bins[bar].count > 0 ? std::max(2.0, share * area.height()) : 0;
  return {area.left() + static_cast<double>(bar) * width, area.bottom() - height, width, height};
}

int HistogramChart::barAt(const QPointF& at) const {
  const QRectF area = plot();
  if (histogram_.bins.empty() || !area.contains(at)) return -1;
  const auto bars = static_cast<int>(histogram_.bins.size());
  return std::clamp(static_cast<int>((at.x() - area.left()) / area.width() * bars), 0, bars - 1);
}

void HistogramChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  painter.setPen(palette().color(QPalette::Text));
  if (histogram_.bins.empty()) {
    painter.drawText(rect().adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, message_);
    return;
  }
  const auto selected = selected_dur_ ? binOf(histogram_, *selected_dur_) : std::nullopt;
  for (std::size_t bar = 0; bar < histogram_.bins.size(); ++bar) {
    const QRectF at = barOf(bar);
    QColor color = palette().color(QPalette::Highlight);
    if (static_cast<int>(bar) == chosen_) color = palette().color(QPalette::Text);
    painter.fillRect(at.adjusted(0, 0, at.width() > 3 ? -1 : 0, 0), color);
  }
  paintAxis(painter);
  paintLine(painter, histogram_.facts.p50_ns, tr("p50"), 1);
  paintLine(painter, histogram_.facts.p99_ns, tr("p99"), 1);
  if (selected) paintLine(painter, *selected_dur_, tr("selected"), 0);
  if (hasFocus()) {
    painter.setPen(palette().color(QPalette::Highlight));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void HistogramChart::paintAxis(QPainter& painter) const {
  const QRectF area = plot();
  painter.setPen(palette().color(QPalette::Text));
  painter.drawLine(area.bottomLeft(), area.bottomRight());
  painter.drawText(QRectF(0, area.top(), area.left() - 6, fontMetrics().height()), Qt::AlignRight,
                   count(histogram_.most));
  painter.drawText(QRectF(0, area.bottom() - fontMetrics().height(), area.left() - 6, fontMetrics().height()),
                   Qt::AlignRight | Qt::AlignBottom, "0");
  // Edges of bins, as many as have room.
  const std::size_t bars = histogram_.bins.size();
  const int widest = fontMetrics().horizontalAdvance("888.88 ms") + 16;
  const auto labels = std::max<std::size_t>(1, static_cast<std::size_t>(area.width() / widest));
  const std::size_t step = std::max<std::size_t>(1, (bars + labels - 1) / labels);
  const double width = area.width() / static_cast<double>(bars);
  double free = 0;
  for (std::size_t bar = 0; bar <= bars; bar += step) {
    const TimeNs edge = bar < bars ? histogram_.bins[bar].from_ns : histogram_.bins.back().to_ns;
    const double x = area.left() + static_cast<double>(bar) * width;
    const QString text = duration(edge);
    const double wide = fontMetrics().horizontalAdvance(text);
    const double left = std::clamp(x - wide / 2, 0.0, QWidget::width() - wide);
    painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3));
    if (left < free) continue;
    painter.drawText(QPointF(left, area.bottom() + fontMetrics().ascent() + 4), text);
    free = left + wide + 8;
  }
}

// A vertical line at a duration with its label above, in one of two rows.
void HistogramChart::paintLine(QPainter& painter, TimeNs dur, const QString& label, int row) const {
  const auto bar = binOf(histogram_, dur);
  if (!bar) return;
  const DurationHistogram::Bin& bin = histogram_.bins[*bar];
  const double span = static_cast<double>(std::max<TimeNs>(1, bin.to_ns - bin.from_ns));
  const QRectF area = plot();
  const double width = area.width() / static_cast<double>(histogram_.bins.size());
  const double x =
      area.left() + (static_cast<double>(*bar) + static_cast<double>(dur - bin.from_ns) / span) * width;
  painter.setPen(QPen(palette().color(QPalette::Text), 1, row == 0 ? Qt::SolidLine : Qt::DashLine));
  const int line = fontMetrics().height();
  const double top = 2 + row * line;
  painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));  // below all labels
  const QString text = label + ' ' + duration(dur);
  const double wide = fontMetrics().horizontalAdvance(text);
  // p99 is to the right of its line, p50 to the left: they do not meet.
  double left = label == tr("p50") ? x - wide - 3 : x + 3;
  left = std::clamp(left, 2.0, std::max(2.0, QWidget::width() - wide - 2));
  painter.drawText(QPointF(left, top + fontMetrics().ascent()), text);
}

void HistogramChart::mousePressEvent(QMouseEvent* event) { choose(barAt(event->position())); }

void HistogramChart::keyPressEvent(QKeyEvent* event) {
  const auto bars = static_cast<int>(histogram_.bins.size());
  if (bars == 0) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left: return choose(std::max(0, chosen_ - 1));
    case Qt::Key_Right: return choose(std::min(bars - 1, chosen_ + 1));
    case Qt::Key_Home: return choose(0);
    case Qt::Key_End: return choose(bars - 1);
    default: QWidget::keyPressEvent(event);
  }
}

bool HistogramChart::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = textOf(barAt(help->pos()));
    text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  return QWidget::event(event);
}

HistogramView::HistogramView(QWidget* parent)
    : QWidget(parent), chart_(new HistogramChart), title_(new WrappedLabel), bar_(new QLabel) {
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(title_);
  layout->addWidget(chart_, 1);
  layout->addWidget(bar_);
  setFocusProxy(chart_);
  connect(chart_, &HistogramChart::chosenChanged, this,
          [this] { bar_->setText(chart_->textOf(chart_->chosen())); });
  setEvent(nullptr, std::nullopt, std::nullopt);
}

void HistogramView::setEvent(std::shared_ptr<const Timeline> timeline, const std::optional<EventRef>& event,
                             std::optional<std::pair<TimeNs, TimeNs>> range) {
  background_.cancel();
  timeline_ = std::move(timeline);
  event_ = timeline_ ? event : std::nullopt;
  range_ = range;
  stale_ = event_.has_value();
  chart_->setHistogram({}, std::nullopt);
  chart_->setMessage(
      event_ ? tr("Counting ...")
             : tr("Select an event on the timeline to see how long the events of its name take."));
  title_->setVisible(event_.has_value());
  if (event_ && isVisible()) compute();
}

void HistogramView::showEvent(QShowEvent* event) {
  if (stale_) compute();
  QWidget::showEvent(event);
}

void HistogramView::compute() {
  stale_ = false;
  const Lane& lane = timeline_->tracks[event_->track].lanes[event_->lane];
  const std::uint32_t name = lane.name(event_->index);
  const TimeNs from = range_ ? range_->first : timeline_->begin_ns;
  const TimeNs to = range_ ? range_->second : timeline_->end_ns + 1;
  background_.ask(
      [timeline = timeline_, name, from, to](const std::atomic<bool>& cancel) {
        return durationHistogram(*timeline, name, from, to, kBins, &cancel);
      },
      [this, dur = lane.durNs(event_->index)](DurationHistogram histogram) {
        chart_->setMessage(tr("No event of that name is in the selected range."));
        chart_->setHistogram(std::move(histogram), dur);
        showTitle();
        emit computed();
      });
  showTitle();
}

void HistogramView::showTitle() {
  const Lane& lane = timeline_->tracks[event_->track].lanes[event_->lane];
  QString name = QString::fromStdString(timeline_->name(lane.name(event_->index)));
  if (name.isEmpty()) name = tr("(no name)");
  if (name.size() > 120) name = name.left(120) + "...";
  const AggregateRow& facts = chart_->histogram().facts;
  QString text = range_ ? tr("%1 in the selected range").arg(name) : tr("%1 in the whole trace").arg(name);
  if (facts.count > 0) {
    text += tr(": %1 events, mean %2, p50 %3, p99 %4, least %5, longest %6")
                .arg(count(facts.count), duration(facts.mean_ns), duration(facts.p50_ns),
                     duration(facts.p99_ns), duration(facts.min_ns), duration(facts.max_ns));
    if (chart_->histogram().by_factor) text += tr("; each bin is wider than the last by the same factor");
  }
  title_->setText(text);
}

}  // namespace pitwall::gui
