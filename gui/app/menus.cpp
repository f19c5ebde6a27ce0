// Every action of the window with its keys. Single letters act only while the timeline has the focus.
#include <QApplication>
#include <QSettings>

#include "gui/app/help_sheet.h"
#include "gui/app/main_window.h"
#include "gui/app/open_dialog.h"
#include "gui/views/event_colors.h"

namespace pitwall::gui {
namespace {

// An action of the timeline alone.
struct TimelineAction {
  const char* id;
  const char* text;
  const char* keys;
  void (TimelineView::*run)();
};

}  // namespace

void MainWindow::makeMenus() {
  makeFileMenu();
  makeViewMenu();
  makeRowsMenu();
  makeSelectMenu();
  makeGoMenu();
  actions_->add(MenuId::findings, {"findings.copy_export", tr("&Copy export line"), "Ctrl+Shift+C",
                                   [this] { findings_->copyExportLine(); }});
  actions_->add(MenuId::findings, {"findings.save_environment", tr("&Save environment file..."), "Ctrl+S",
                                   [this] { findings_->saveEnvironment(); }});
  state_store_ = new TraceStateStore(this);
  makePalette();
  actions_->add(MenuId::help, {"help.keys", tr("&Keys"), "?; Ctrl+F1; F1", [this] { showShortcuts(); }});
}

// The timelines of the comparison use the same keys as the page in front.
std::vector<TimelineView*> MainWindow::timelines() const {
  return {timeline_, &compare_->timelineA(), &compare_->timelineB(), &simulate_->recorded(),
          &simulate_->simulated()};
}

TimelineView& MainWindow::timelineInFocus() {
  for (TimelineView* view : timelines()) {
    if (view->hasFocus() || view->isAncestorOf(QApplication::focusWidget())) return *view;
  }
  return *timeline_;
}

void MainWindow::makeFileMenu() {
  actions_->add(MenuId::file, {"file.open", tr("&Open..."), "Ctrl+O", [this] { askAndOpen(); }});
  actions_->add(MenuId::file, {"file.new_window", tr("&New window"), "Ctrl+N", [] {
                                 auto* window = new MainWindow;
                                 window->setAttribute(Qt::WA_DeleteOnClose);
                                 window->show();
                               }});
  recent_ = actions_->menu(MenuId::file)->addMenu(tr("Open &recent"));
  updateRecent();
  actions_->add(MenuId::file, {"file.reload", tr("Re&load"), "F5", [this] {
                                 if (session_->paths().size() > 1) return openMerged(session_->paths());
                                 if (!session_->path().isEmpty()) open(session_->path());
                               }});
  actions_->add(MenuId::file, {"file.close", tr("&Close trace"), "Ctrl+W", [this] { closeTrace(); }});
  actions_->add(MenuId::file, {"file.stop", tr("S&top loading or analysing"), "", [this] { stopLoading(); }});
  makeFollow();
  makeExportActions();
  actions_->addSeparator(MenuId::file);
  actions_->add(MenuId::file, {"file.quit", tr("&Quit"), "Ctrl+Q", [this] { close(); }});
}

void MainWindow::makeViewMenu() {
  static const TimelineAction kActions[] = {
      {"view.zoom_in", QT_TR_NOOP("Zoom &in"), "W; Ctrl++; Ctrl+=", &TimelineView::zoomIn},
      {"view.zoom_out", QT_TR_NOOP("Zoom &out"), "S; Ctrl+-", &TimelineView::zoomOut},
      {"view.zoom_in_fast", QT_TR_NOOP("Zoom in fast"), "Shift+W", &TimelineView::zoomInFast},
      {"view.zoom_out_fast", QT_TR_NOOP("Zoom out fast"), "Shift+S", &TimelineView::zoomOutFast},
      {"view.pan_left", QT_TR_NOOP("Pan &left"), "A", &TimelineView::panLeft},
      {"view.pan_right", QT_TR_NOOP("Pan &right"), "D", &TimelineView::panRight},
      {"view.all", QT_TR_NOOP("&Whole trace"), "0; Home", &TimelineView::showAll},
      {"view.end", QT_TR_NOOP("En&d of the trace"), "End", &TimelineView::showEnd},
      {"view.focus", QT_TR_NOOP("&Focus selection, again: fit"), "F", &TimelineView::focusSelection},
      {"view.fit", QT_TR_NOOP("Fit the &event"), "Return; Enter", &TimelineView::fitEvent},
      {"view.range", QT_TR_NOOP("&Zoom to range"), "Z", &TimelineView::zoomToRange},
      {"view.back", QT_TR_NOOP("&Back"), "Backspace; Alt+Left", &TimelineView::undoView},
      {"view.forward", QT_TR_NOOP("For&ward"), "Alt+Right", &TimelineView::redoView},
      {"view.path_only", QT_TR_NOOP("Only the critical &path strong"), "K", &TimelineView::togglePathOnly},
      {"view.grid", QT_TR_NOOP("&Grid"), "G", &TimelineView::toggleGrid},
  };
  for (const TimelineAction& a : kActions)
    actions_->add(MenuId::view,
                  {a.id, tr(a.text), a.keys, [this, a] { (timelineInFocus().*a.run)(); }, true});
  actions_->addSeparator(MenuId::view);
  makeThemeActions();
  QAction* blind =
      actions_->add(MenuId::view, {"view.color_blind", tr("Events in colours for every &eye"), "", [] {
                                     setColorBlindColors(!colorBlindColors());
                                     QSettings().setValue("color_blind", colorBlindColors());
                                   }});
  blind->setCheckable(true);
  blind->setChecked(QSettings().value("color_blind").toBool());
  setColorBlindColors(blind->isChecked());
  makeColorActions();
  actions_->add(MenuId::view, {"view.drawer", tr("Show or hide the &drawer"), "F9; Q",
                               [this] { drawer_->parentWidget()->setVisible(!drawer_->isVisible()); }});
}

void MainWindow::makeRowsMenu() {
  static const TimelineAction kActions[] = {
      {"rows.up", QT_TR_NOOP("Row &up"), "Up", &TimelineView::rowUp},
      {"rows.down", QT_TR_NOOP("Row &down"), "Down", &TimelineView::rowDown},
      {"rows.page_up", QT_TR_NOOP("Page of rows up"), "PgUp", &TimelineView::pageUp},
      {"rows.page_down", QT_TR_NOOP("Page of rows down"), "PgDown", &TimelineView::pageDown},
      {"rows.toggle", QT_TR_NOOP("&Open or close row"), "O", &TimelineView::toggleOpen},
      {"rows.pin", QT_TR_NOOP("&Pin or unpin row"), "P", &TimelineView::togglePinned},
      {"rows.hide", QT_TR_NOOP("&Hide row"), "H", &TimelineView::hideRow},
      {"rows.show_hidden", QT_TR_NOOP("&Show hidden rows"), "Shift+H", &TimelineView::showHiddenRows},
      {"rows.move_up", QT_TR_NOOP("Move row up"), "Ctrl+Up", &TimelineView::moveRowUp},
      {"rows.move_down", QT_TR_NOOP("Move row down"), "Ctrl+Down", &TimelineView::moveRowDown},
      {"rows.open_all", QT_TR_NOOP("Open &all rows"), "Ctrl+Shift+O", &TimelineView::openAll},
      {"rows.close_all", QT_TR_NOOP("&Close all rows"), "Ctrl+Shift+W", &TimelineView::closeAll},
      {"rows.taller", QT_TR_NOOP("&Taller lanes"), "Ctrl+Shift++", &TimelineView::taller},
      {"rows.lower", QT_TR_NOOP("&Lower lanes"), "Ctrl+Shift+-", &TimelineView::lower},
      {"rows.wider_titles", QT_TR_NOOP("&Wider titles"), "Ctrl+Shift+Right", &TimelineView::widerTitles},
      {"rows.narrower_titles", QT_TR_NOOP("&Narrower titles"), "Ctrl+Shift+Left",
       &TimelineView::narrowerTitles},
      {"rows.fit_titles", QT_TR_NOOP("Fit the t&itles"), "", &TimelineView::fitTitles},
  };
  for (const TimelineAction& a : kActions)
    actions_->add(MenuId::rows,
                  {a.id, tr(a.text), a.keys, [this, a] { (timelineInFocus().*a.run)(); }, true});
  actions_->addSeparator(MenuId::rows);
  actions_->add(MenuId::rows, {"rows.filter", tr("&Filter rows"), "Ctrl+P", [this] {
                                 row_filter_->setFocus();
                                 row_filter_->selectAll();
                               }});
}

void MainWindow::makeSelectMenu() {
  actions_->add(MenuId::select, {"select.search", tr("&Search events"), "/; Ctrl+F", [this] {
                                   search_->setFocus();
                                   search_->selectAll();
                                 }});
  actions_->add(MenuId::select,
                {"select.next_hit", tr("Next &hit"), "F3", [this] { find(search_->text(), true); }});
  actions_->add(MenuId::select, {"select.previous_hit", tr("Previous hit"), "Shift+F3",
                                 [this] { find(search_->text(), false); }});
  actions_->addSeparator(MenuId::select);
  static const TimelineAction kActions[] = {
      {"select.next", QT_TR_NOOP("&Next event"), ".; Right", &TimelineView::selectNext},
      {"select.previous", QT_TR_NOOP("&Previous event"), ",; Left", &TimelineView::selectPrevious},
      {"select.next_same", QT_TR_NOOP("Next of that name"), "Shift+Right; >", &TimelineView::selectNextSame},
      {"select.previous_same", QT_TR_NOOP("Previous of that name"), "Shift+Left; <",
       &TimelineView::selectPreviousSame},
      {"select.parent", QT_TR_NOOP("Event &around"), "Alt+Up", &TimelineView::selectParent},
      {"select.child", QT_TR_NOOP("Event &inside"), "Alt+Down", &TimelineView::selectChild},
      {"select.follow", QT_TR_NOOP("What waited &for it, or back"), "]", &TimelineView::followForward},
      {"select.follow_back", QT_TR_NOOP("What it &waited for, or back"), "[", &TimelineView::followBack},
      {"select.next_on_path", QT_TR_NOOP("Next on the critical path"), "Ctrl+]", &TimelineView::nextOnPath},
      {"select.previous_on_path", QT_TR_NOOP("Previous on the critical path"), "Ctrl+[",
       &TimelineView::previousOnPath},
      {"select.all_processes", QT_TR_NOOP("The same on all ran&ks"), "J", &TimelineView::showInAllProcesses},
      {"select.cursor", QT_TR_NOOP("Set or remove the &cursor to measure from"), "C",
       &TimelineView::toggleCursor},
      {"select.as_range", QT_TR_NOOP("Event as &range"), "R", &TimelineView::selectEventAsRange},
  };
  for (const TimelineAction& a : kActions)
    actions_->add(MenuId::select,
                  {a.id, tr(a.text), a.keys, [this, a] { (timelineInFocus().*a.run)(); }, true});
  actions_->add(MenuId::select, {"select.copy_details", tr("&Copy the event's details"), "Ctrl+C",
                                 [this] {
                                   details_->copyAll();
                                   showRemark(tr("The details are copied."));
                                 },
                                 true});
  actions_->add(MenuId::select, {"select.copy_range", tr("Copy the range's &table"), "Ctrl+Shift+X",
                                 [this] { range_->copySelected(); }});
  makeCopyActions();
  actions_->add(MenuId::select, {"select.clear", tr("C&lear"), "Escape", [this] {
                                   if (!timeline_->timeline() && stopLoading()) return;
                                   // The hit is kept.
                                   if (search_->hasFocus() || row_filter_->hasFocus())
                                     return showPage(timeline_);
                                   if (pages_->currentWidget() == timeline_) timeline_->clearSelection();
                                   showPage(timeline_);
                                 }});
}

// Pages have theirs from addPage().
void MainWindow::makeGoMenu() {
  addPage("timeline", tr("&Timeline"), timeline_);
  trace_pages_ = new TracePages(this);
  addPage("compare", tr("&Compare"), compare_);
  trace_pages_->addLastPages();
}

void MainWindow::showShortcuts() {
  auto* sheet = new HelpSheet(*actions_, this);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  sheet->open();
}

}  // namespace pitwall::gui
