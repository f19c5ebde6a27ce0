// Operators by FLOP per byte and FLOP per second, below what the machine's memory and processors allow.
#pragma once

#include <QLabel>
#include <QWidget>
#include <memory>

#include "gui/models/roofline_points.h"
#include "gui/models/trace_session.h"
#include "gui/views/page.h"

namespace pitwall::gui {

// The plot. Left and Right choose the next operator by total time, Return shows it.
class RooflinePlot final : public QWidget {
  Q_OBJECT
 public:
  explicit RooflinePlot(QWidget* parent = nullptr);
  void setPoints(std::vector<RooflinePoint> points, const MachineRoofline& machine);
  void setMessage(const QString& message);
  const std::vector<RooflinePoint>& points() const { return points_; }
  const MachineRoofline& machine() const { return machine_; }
  int chosen() const { return chosen_; }  // -1: none
  QPointF placeOf(const RooflinePoint& point) const;
  // Where the machine's limit is at so many FLOP per byte.
  QPointF limitAt(double flop_per_byte) const;

 signals:
  void chosenChanged();
  void activated(int point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Axis {
    double least = 0, greatest = 1;  // logarithms to the base of 10
  };
  QRectF plot() const;
  QPointF place(double flop_per_byte, double flop_per_second) const;
  double radiusOf(const RooflinePoint& point) const;
  int pointAt(const QPointF& at) const;
  void choose(int point);
  void paintGrid(QPainter& painter) const;
  void paintLimits(QPainter& painter) const;
  void paintTitles(QPainter& painter) const;

  std::vector<RooflinePoint> points_;
  MachineRoofline machine_;
  Axis x_, y_;
  QString message_;
  int chosen_ = -1;
};

class RooflinePage final : public Page {
  Q_OBJECT
 public:
  // Reads the machine's rates through the session, which outlives the page.
  explicit RooflinePage(TraceSession* session, QWidget* parent = nullptr);
  void setReport(ReportPtr report);  // null: none
  RooflinePlot& plot() { return *plot_; }
  QString state() const { return state_->text(); }

 signals:
  void shown();
  void operatorActivated(const QString& search);  // as the search field takes it

 private:
  void show(const MachineRoofline& machine);

  TraceSession* session_;
  RooflinePlot* plot_;
  QLabel *state_, *chosen_;
  ReportPtr report_;
};

}  // namespace pitwall::gui
