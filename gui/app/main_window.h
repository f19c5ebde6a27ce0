// The viewer's window: timeline, findings, details, range table, summary; menus with every action.
#pragma once

#include <QLineEdit>
#include <QMainWindow>
#include <QProgressBar>
#include <QTabWidget>

#include "gui/app/trace_session.h"
#include "gui/views/details_view.h"
#include "gui/views/findings_view.h"
#include "gui/views/range_view.h"
#include "gui/views/summary_view.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {

class MainWindow final : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);

  void open(const QString& path);
  TimelineView& timelineView() { return *timeline_; }
  FindingsView& findingsView() { return *findings_; }
  RangeView& rangeView() { return *range_; }
  DetailsView& detailsView() { return *details_; }
  void find(const QString& text, bool forward);

 signals:
  void loaded();         // the timeline is shown
  void analysisShown();  // the findings are
  void loadFailed(const QString& what);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  void makeDocks();
  void makeMenus();
  void makeFileMenu();
  void makeViewMenu();
  void makeSelectMenu();
  QAction* add(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
               std::function<void()> action, bool of_timeline = false);
  void connectSession();
  void askRange();
  void showFindingEvidence(const Finding* finding);
  void showLinked(const std::vector<std::pair<quint64, qint64>>& linked);
  void exportPicture();
  void showShortcuts();
  void updateRecent();
  void remember(const QString& path);
  void showError(const QString& what);
  QString emptyMessage() const;

  TraceSession* session_;
  TimelineView* timeline_;
  FindingsView* findings_;
  DetailsView* details_;
  RangeView* range_;
  SummaryView* summary_;
  QTabWidget* drawer_;
  QLineEdit *search_, *row_filter_;
  QProgressBar* progress_;
  QLabel* error_;
  QMenu* recent_ = nullptr;
};

}  // namespace pitwall::gui
