// The legend below the timeline: one line of colours and what they stand for. A click on a name marks its events.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/timeline/legend.h"

namespace pitwall::gui {

class LegendBar final : public QWidget {
  Q_OBJECT
 public:
  explicit LegendBar(QWidget* parent);

  void setEntries(std::vector<LegendEntry> entries);
  const std::vector<LegendEntry>& entries() const { return entries_; }
  // Where an entry is drawn; those that have no room are not.
  const std::vector<QRect>& places() const { return places_; }
  int wantedHeight() const { return fontMetrics().height() + 6; }

 signals:
  // The part that the names of its events have in common.
  void nameActivated(const QString& name);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void place();
  const LegendEntry* entryAt(const QPoint& at) const;

  std::vector<LegendEntry> entries_;
  std::vector<QRect> places_;
  QStringList labels_;
};

}  // namespace pitwall::gui
