// Two timelines on one axis: each follows the other's view.
#pragma once

#include <QLabel>
#include <QObject>
#include <QSplitter>

#include "gui/views/timeline_view.h"

namespace pitwall::gui {

class TimelinePair final : public QObject {
  Q_OBJECT
 public:
  // Both outlive it.
  TimelinePair(TimelineView* upper, TimelineView* lower, QObject* parent = nullptr);

  // Both, each below its title, and a widget below them, with handles between; for a layout, which owns all of it.
  QSplitter* splitter(QLabel* upper_title, QLabel* lower_title, QWidget* below) const;

  // A moment of the upper one is drawn above the moment of the lower one that is this much later. Both have timelines.
  void setOffset(TimeNs offset);
  TimeNs offsetNs() const { return offset_; }
  // An iteration of the upper one, counted from 0, and a few after it; all where there are no iterations.
  void showIteration(int iteration);

 private:
  void follow(TimelineView* moved, TimelineView* other, TimeNs offset);

  TimelineView *upper_, *lower_;
  TimeNs offset_ = 0;
  bool following_ = false;
};

}  // namespace pitwall::gui
