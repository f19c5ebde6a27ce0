// How long events of the selected one's name take: a histogram with where the selected one is. Computed
// in the background while the tab is visible.
#pragma once

#include <QLabel>
#include <QWidget>

#include "gui/models/background.h"
#include "gui/models/duration_histogram.h"
#include "gui/timeline/hit.h"

namespace pitwall::gui {

// The bars. Left and Right select one by keyboard.
class HistogramChart final : public QWidget {
  Q_OBJECT
 public:
  explicit HistogramChart(QWidget* parent = nullptr);
  void setHistogram(DurationHistogram histogram, std::optional<TimeNs> selected_dur);
  void setMessage(const QString& message);
  const DurationHistogram& histogram() const { return histogram_; }
  int chosen() const { return chosen_; }  // bar; -1: none
  QString textOf(int bar) const;

 signals:
  void chosenChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF plot() const;
  QRectF barOf(std::size_t bar) const;
  int barAt(const QPointF& at) const;
  void choose(int bar);
  void paintAxis(QPainter& painter) const;
  void paintLine(QPainter& painter, TimeNs dur, const QString& label, int row) const;

  DurationHistogram histogram_;
  std::optional<TimeNs> selected_dur_;
  QString message_;
  int chosen_ = -1;
};

class HistogramView final : public QWidget {
  Q_OBJECT
 public:
  explicit HistogramView(QWidget* parent = nullptr);
  // nullopt: nothing is selected. `range`: only events that touch it.
  void setEvent(std::shared_ptr<const Timeline> timeline, const std::optional<EventRef>& event,
                std::optional<std::pair<TimeNs, TimeNs>> range);
  const HistogramChart& chart() const { return *chart_; }
  QString title() const { return title_->text(); }

 signals:
  void computed();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void compute();
  void showTitle();

  HistogramChart* chart_;
  QLabel *title_, *bar_;
  std::shared_ptr<const Timeline> timeline_;
  std::optional<EventRef> event_;
  std::optional<std::pair<TimeNs, TimeNs>> range_;
  bool stale_ = false;
  Background background_;
};

}  // namespace pitwall::gui
