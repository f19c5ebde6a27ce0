// The viewer's window: timeline, findings, details, range table, summary; menus with every action.
#pragma once

#include <QDockWidget>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QMainWindow>
#include <QProgressBar>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>

#include "gui/app/actions.h"
#include "gui/app/trace_pages.h"
#include "gui/app/trace_state_store.h"
#include "gui/models/background.h"
#include "gui/models/evidence_events.h"
#include "gui/models/file_watch.h"
#include "gui/models/search_query.h"
#include "gui/models/trace_session.h"
#include "gui/views/command_palette.h"
#include "gui/views/compare_page.h"
#include "gui/views/details_view.h"
#include "gui/views/findings_view.h"
#include "gui/views/notice_bar.h"
#include "gui/views/range_view.h"
#include "gui/views/simulate_page.h"
#include "gui/views/start_page.h"
#include "gui/views/summary_view.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {

class MainWindow final : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);

  void open(const QString& path);
  // Several: asks whether they are one timeline or a comparison.
  void openFiles(const QStringList& paths);
  void openMerged(const QStringList& paths);
  void openTrials(const QString& folder);  // of `pitwall tune`, with its first trace
  void compareAll(
      const QStringList& paths);  // the first two beside each other, and a table of all when there are more
  void closeTrace();
  // Stops loading, which closes the trace, or analysing, which leaves it open. False: neither goes on.
  bool stopLoading();
  StartPage& startPage() { return *start_; }
  NoticeBar& notice() { return *notice_; }
  void compareWith(const QString& path);  // the open trace is A, this is B
  TimelineView& timelineView() { return *timeline_; }
  FindingsView& findingsView() { return *findings_; }
  RangeView& rangeView() { return *range_; }
  DetailsView& detailsView() { return *details_; }
  void find(const QString& text, bool forward);  // the next event that is searched for, which fills the view
  QString hitNumber() const { return hit_number_->text(); }
  void findOnTimeline(const QString& text);         // shows the timeline and the next event of that name
  void showEventOnTimeline(const EventRef& event);  // selects it and fits the view to it
  void showEventWithId(qint64 id);                  // the same, of the table `event`
  void showError(const QString& what);
  void showRemark(const QString& text);  // for a while, in the status bar

  // Adds a page next to the timeline, with an action go.ID in the menu Go: Alt+1 for the first page, Alt+2
  // for the next, and `keys` ("Ctrl+Shift+Q") besides. The window owns the page.
  QAction* addPage(const char* id, const QString& title, QWidget* page, const char* keys = "");
  void showPage(QWidget* page);
  bool isComparing() const { return pages_->currentWidget() == compare_; }
  int pageInFront() const { return pages_->currentIndex(); }
  void showPageAt(int index) { pages_->setCurrentIndex(index); }
  // Adds a tab about the selection, below.
  void addDrawerTab(const QString& title, QWidget* content) { drawer_->addTab(content, title); }
  void showDrawer(QWidget* content);  // opens it when it is closed, and gives that tab the focus
  TracePages& tracePages() { return *trace_pages_; }
  TraceStateStore& stateStore() { return *state_store_; }
  CommandPalette& commandPalette() { return *palette_; }
  ActionRegistry& actions() { return *actions_; }
  TraceSession& session() { return *session_; }
  ComparePage& comparePage() { return *compare_; }
  SimulatePage& simulatePage() { return *simulate_; }
  FileWatch& fileWatch() { return *watch_; }

 signals:
  void opening(const QString& path);  // the last trace is no longer shown
  void closing();
  void loaded();         // the timeline is shown
  void refreshed();      // with what was recorded meanwhile
  void analysisShown();  // the findings are
  void evidenceShown();  // on the timeline
  void searched();       // the hits of the search field are shown
  void loadFailed(const QString& what);

 protected:
  void showEvent(QShowEvent* event) override;
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
  std::vector<TimelineView*> timelines() const;  // of all pages
  TimelineView& timelineInFocus();
  void makeGoMenu();
  void makePalette();
  void openPalette(const QString& typed);
  void runCommand(const Command& command);
  void nextPane(int by);
  void connectSession();
  void giveRoom();
  void askRange();
  void showInDrawer(QWidget* content);
  void makeSearch();
  void search(const QString& text, std::optional<bool> go);
  void showHits(const Result<std::shared_ptr<const SearchHits>>& hits, std::optional<bool> go);
  void goToHit(bool forward);
  void showHit(const EventRef& hit);
  void showHitNumber();
  void showEvidence(const EvidencePlace& place);
  void markEvidence(const Result<EvidenceEvents>& found);
  void showDetails(const Details& details, const std::vector<EventLink>& links, const EventRef& event);
  void exportPicture();
  void exportReport();
  void exportSelectedRange();
  void makeExportActions();
  void makeThemeActions();
  void makeColorActions();
  void showShortcuts();
  void updateRecent();
  void cleanRecent();
  void askAndOpen();
  void startOpening(const QString& name);
  void makeStartPage();
  void showProgress(bool on);
  void makeFollow();
  void makeCopyActions();
  void describeInView();
  void showText(const QString& title, const QString& text);  // in a window, to be read and copied
  void fileChanged();
  void showRefreshed(const std::shared_ptr<const Timeline>& timeline);
  void showCounts(const Timeline& timeline);
  void remember(const QString& path);
  QString emptyMessage() const;

  TraceSession* session_;
  TimelineView* timeline_;
  FindingsView* findings_;
  DetailsView* details_;
  RangeView* range_;
  SummaryView* summary_;
  ComparePage* compare_;
  SimulatePage* simulate_;
  TracePages* trace_pages_ = nullptr;
  TraceStateStore* state_store_ = nullptr;
  CommandPalette* palette_ = nullptr;
  QTabWidget* pages_;   // the timeline first
  QTabWidget* drawer_;  // details of the selection
  std::unique_ptr<ActionRegistry> actions_;
  QLineEdit *search_, *row_filter_;
  QLabel* hit_number_;
  QProgressBar* progress_;
  QLabel* error_;
  NoticeBar* notice_;
  StartPage* start_;
  QToolButton* stop_;
  FileWatch* watch_;
  QAction* follow_ = nullptr;
  QElapsedTimer refreshing_;  // valid while the trace is read again
  QTimer next_refresh_;       // not before
  bool refresh_wanted_ = false;
  Background describing_;
  QMenu* recent_ = nullptr;
  QDockWidget *findings_dock_ = nullptr, *drawer_dock_ = nullptr;
  std::shared_ptr<std::atomic<bool>> evidence_cancel_;  // of the evidence that was asked for last
  std::shared_ptr<std::atomic<bool>> search_cancel_;
  QTimer typing_;                                // in the search field
  QString searched_;                             // what the hits are of
  bool gave_room_ = false, drawer_open_ = true;  // to the comparison; before that
  bool has_layout_ = false;                      // restored, or made for the window's size
};

}  // namespace pitwall::gui
