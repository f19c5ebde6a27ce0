#include "gui/views/legend_bar.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "gui/views/event_colors.h"

namespace pitwall::gui {
namespace {

constexpr int kGapPx = 6, kBetweenPx = 16, kMostLegendCharacters = 28;

}  // namespace

LegendBar::LegendBar(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Legend"));
  setCursor(Qt::PointingHandCursor);
}

void LegendBar::setEntries(std::vector<LegendEntry> entries) {
  entries_ = std::move(entries);
  place();
  QStringList names;
  for (const LegendEntry& entry : entries_) names += QString::fromStdString(entry.label);
  setAccessibleDescription(names.join(", "));
  update();
}

void LegendBar::place() {
  places_.clear();
  labels_.clear();
  const QFontMetrics metrics = fontMetrics();
  const int square = metrics.ascent();
  int x = kGapPx;
  for (const LegendEntry& entry : entries_) {
    const QString label = metrics.elidedText(QString::fromStdString(entry.label), Qt::ElideMiddle,
                                             metrics.averageCharWidth() * kMostLegendCharacters);
    const int width = square + kGapPx + metrics.horizontalAdvance(label);
    if (x + width + kGapPx > this->width()) break;
    places_.emplace_back(x, 0, width, height());
    labels_ += label;
    x += width + kBetweenPx;
  }
}

void LegendBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Window));
  painter.setFont(font());
  const bool dark = isDark(palette());
  const Palette& by_name = eventColors(dark);
  const Palette& by_category = Palette::of(dark, colorBlindColors(), ColorBy::category);
  const int square = fontMetrics().ascent();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const QRect box(places_[i].x(), (height() - square) / 2, square, square);
    painter.fillRect(
        box, QColor::fromRgb((entries_[i].name.empty() ? by_category : by_name).color[entries_[i].color]));
    painter.setPen(palette().color(QPalette::Mid));
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(places_[i].adjusted(square + kGapPx, 0, kGapPx, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     labels_[static_cast<qsizetype>(i)]);
  }
}

void LegendBar::resizeEvent(QResizeEvent*) { place(); }

const LegendEntry* LegendBar::entryAt(const QPoint& at) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].contains(at)) return &entries_[i];
  }
  return nullptr;
}

void LegendBar::mouseReleaseEvent(QMouseEvent* event) {
  const LegendEntry* entry = entryAt(event->position().toPoint());
  if (entry == nullptr || entry->name.empty()) return;
  // A group stands for its longest part between numbers.
  const QStringList parts = QString::fromStdString(entry->name).split('*');
  emit nameActivated(*std::ranges::max_element(parts, {}, &QString::size));
}

bool LegendBar::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const LegendEntry* entry = entryAt(help->pos());
  if (entry == nullptr) {
    QToolTip::hideText();
  } else {
    const QString name = QString::fromStdString(entry->name.empty() ? entry->label : entry->name);
    QToolTip::showText(help->globalPos(),
                       entry->name.empty() ? name : tr("%1\nA click marks its events.").arg(name), this);
  }
  return true;
}

}  // namespace pitwall::gui
