// The viewer's window: timeline, findings, details, range table, summary; menus with every action.
#pragma once

#include <QLineEdit>
#include <QMainWindow>
#include <QProgressBar>
#include <QTabWidget>

#include "gui/app/actions.h"
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

  // Adds a page beside the timeline, with an action go.ID in the menu Go: Alt+1 for the first page, Alt+2 for
  // the next, and `keys` ("Ctrl+Shift+Q") besides. The window owns the page.
  QAction* addPage(const char* id, const QString& title, QWidget* page, const char* keys = "");
  void showPage(QWidget* page);
  ActionRegistry& actions() { return *actions_; }
  TraceSession& session() { return *session_; }

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
  void makeRowsMenu();
  void makeSelectMenu();
  void makeGoMenu();
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
  QTabWidget* pages_;   // the timeline first
  QTabWidget* drawer_;  // what is known of the selection
  std::unique_ptr<ActionRegistry> actions_;
  QLineEdit *search_, *row_filter_;
  QProgressBar* progress_;
  QLabel* error_;
  QMenu* recent_ = nullptr;
};

}  // namespace pitwall::gui
