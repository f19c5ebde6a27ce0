// The window's pages about the open trace, next to the timeline: event table, flame graph, SQL; and the
// histogram below. Keeps them in step with the timeline's selection.
#pragma once

#include <QObject>

#include "gui/views/events_page.h"
#include "gui/views/flame_page.h"
#include "gui/views/histogram_view.h"
#include "gui/views/kernels_page.h"
#include "gui/views/roofline_page.h"
#include "gui/views/sql_page.h"
#include "gui/views/trials_page.h"

namespace pitwall::gui {

class MainWindow;

class TracePages final : public QObject {
  Q_OBJECT
 public:
  // Adds its pages and actions to the window, which owns all of them.
  explicit TracePages(MainWindow* window);

  EventsPage& events() { return *events_; }
  FlamePage& flame() { return *flame_; }
  SqlPage& sql() { return *sql_; }
  HistogramView& histogram() { return *histogram_; }
  KernelsPage& kernels() { return *kernels_; }
  TrialsPage& trials() { return *trials_; }
  RooflinePage& roofline() { return *roofline_; }
  // The pages behind the comparison.
  void addLastPages();

 private:
  void addActions();
  void clear();
  void load();
  void refresh();
  void followRange();
  void followEvent();
  std::optional<std::pair<TimeNs, TimeNs>> range() const;

  MainWindow* window_;
  EventsPage* events_;
  FlamePage* flame_;
  SqlPage* sql_;
  HistogramView* histogram_;
  KernelsPage* kernels_;
  TrialsPage* trials_;
  RooflinePage* roofline_;
};

}  // namespace pitwall::gui
