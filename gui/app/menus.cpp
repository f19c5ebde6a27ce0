// Every action of the window with its keys. Single letters act only while the timeline has the focus.
#include <QFileDialog>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>

#include "gui/app/main_window.h"

namespace pitwall::gui {

QAction* MainWindow::add(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
                         std::function<void()> action, bool of_timeline) {
  auto* made = new QAction(text, this);
  made->setShortcuts(keys);
  made->setShortcutContext(of_timeline ? Qt::WidgetWithChildrenShortcut : Qt::WindowShortcut);
  connect(made, &QAction::triggered, this, std::move(action));
  menu->addAction(made);
  if (of_timeline) timeline_->addAction(made);
  return made;
}

void MainWindow::makeMenus() {
  makeFileMenu();
  makeViewMenu();
  makeSelectMenu();
  QMenu* findings = menuBar()->addMenu(tr("Fi&ndings"));
  add(findings, tr("&Copy export line"), {QKeySequence("Ctrl+Shift+C")},
      [this] { findings_->copyExportLine(); });
  add(findings, tr("&Save environment file..."), {QKeySequence("Ctrl+S")},
      [this] { findings_->saveEnvironment(); });
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add(help, tr("&Keys"), {QKeySequence("Ctrl+F1"), QKeySequence("?")}, [this] { showShortcuts(); });
}

void MainWindow::makeFileMenu() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  add(file, tr("&Open..."), {QKeySequence("Ctrl+O")}, [this] {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a trace"));
    if (!path.isEmpty()) open(path);
  });
  recent_ = file->addMenu(tr("Open &recent"));
  updateRecent();
  add(file, tr("Re&load"), {QKeySequence("F5")}, [this] {
    if (!session_->path().isEmpty()) open(session_->path());
  });
  add(file, tr("Save &picture..."), {QKeySequence("Ctrl+Shift+E")}, [this] { exportPicture(); });
  file->addSeparator();
  add(file, tr("&Quit"), {QKeySequence("Ctrl+Q")}, [this] { close(); });
}

void MainWindow::makeViewMenu() {
  QMenu* view = menuBar()->addMenu(tr("&View"));
  TimelineView* t = timeline_;
  add(
      view, tr("Zoom &in"), {QKeySequence("W"), QKeySequence("Ctrl++")}, [t] { t->zoomIn(); }, true);
  add(
      view, tr("Zoom &out"), {QKeySequence("S"), QKeySequence("Ctrl+-")}, [t] { t->zoomOut(); }, true);
  add(
      view, tr("Zoom in fast"), {QKeySequence("Shift+W")}, [t] { t->zoomInFast(); }, true);
  add(
      view, tr("Zoom out fast"), {QKeySequence("Shift+S")}, [t] { t->zoomOutFast(); }, true);
  add(
      view, tr("Pan &left"), {QKeySequence("A")}, [t] { t->panLeft(); }, true);
  add(
      view, tr("Pan &right"), {QKeySequence("D")}, [t] { t->panRight(); }, true);
  add(
      view, tr("&Whole trace"), {QKeySequence("0"), QKeySequence("Home")}, [t] { t->showAll(); }, true);
  add(
      view, tr("&Focus selection, again: fit"), {QKeySequence("F")}, [t] { t->focusSelection(); }, true);
  add(
      view, tr("&Zoom to range"), {QKeySequence("Z")}, [t] { t->zoomToRange(); }, true);
  add(
      view, tr("&Back"), {QKeySequence("Backspace"), QKeySequence("Alt+Left")}, [t] { t->undoView(); }, true);
  add(
      view, tr("For&ward"), {QKeySequence("Alt+Right")}, [t] { t->redoView(); }, true);
  view->addSeparator();
  add(
      view, tr("Row &up"), {QKeySequence("Up")}, [t] { t->rowUp(); }, true);
  add(
      view, tr("Row &down"), {QKeySequence("Down")}, [t] { t->rowDown(); }, true);
  add(
      view, tr("Open or &close row"), {QKeySequence("O")}, [t] { t->toggleOpen(); }, true);
  add(
      view, tr("&Pin row"), {QKeySequence("P")}, [t] { t->togglePinned(); }, true);
  add(
      view, tr("&Hide row"), {QKeySequence("H")}, [t] { t->hideRow(); }, true);
  add(
      view, tr("Show hidden rows"), {QKeySequence("Shift+H")}, [t] { t->showHiddenRows(); }, true);
  add(
      view, tr("Move row up"), {QKeySequence("Ctrl+Up")}, [t] { t->moveRowUp(); }, true);
  add(
      view, tr("Move row down"), {QKeySequence("Ctrl+Down")}, [t] { t->moveRowDown(); }, true);
  add(
      view, tr("Open all rows"), {QKeySequence("Ctrl+Shift+O")}, [t] { t->openAll(); }, true);
  add(
      view, tr("Close all rows"), {QKeySequence("Ctrl+Shift+W")}, [t] { t->closeAll(); }, true);
  add(
      view, tr("Taller lanes"), {QKeySequence("Ctrl+Shift++")}, [t] { t->taller(); }, true);
  add(
      view, tr("Lower lanes"), {QKeySequence("Ctrl+Shift+-")}, [t] { t->lower(); }, true);
  view->addSeparator();
  add(view, tr("Show or hide the &drawer"), {QKeySequence("F9"), QKeySequence("Q")},
      [this] { drawer_->parentWidget()->setVisible(!drawer_->isVisible()); });
}

void MainWindow::makeSelectMenu() {
  QMenu* select = menuBar()->addMenu(tr("&Select"));
  TimelineView* t = timeline_;
  add(select, tr("&Search events"), {QKeySequence("/"), QKeySequence("Ctrl+F")}, [this] {
    search_->setFocus();
    search_->selectAll();
  });
  add(select, tr("Next &hit"), {QKeySequence("F3")}, [this] { find(search_->text(), true); });
  add(select, tr("Previous hit"), {QKeySequence("Shift+F3")}, [this] { find(search_->text(), false); });
  add(select, tr("&Filter rows"), {QKeySequence("Ctrl+P")}, [this] {
    row_filter_->setFocus();
    row_filter_->selectAll();
  });
  select->addSeparator();
  add(
      select, tr("&Next event"), {QKeySequence("."), QKeySequence("Right")}, [t] { t->selectNext(); }, true);
  add(
      select, tr("&Previous event"), {QKeySequence(","), QKeySequence("Left")}, [t] { t->selectPrevious(); },
      true);
  add(
      select, tr("Next of that name"), {QKeySequence("Shift+Right")}, [t] { t->selectNextSame(); }, true);
  add(
      select, tr("Previous of that name"), {QKeySequence("Shift+Left")}, [t] { t->selectPreviousSame(); },
      true);
  add(
      select, tr("Event &around"), {QKeySequence("Alt+Up")}, [t] { t->selectParent(); }, true);
  add(
      select, tr("Event &inside"), {QKeySequence("Alt+Down")}, [t] { t->selectChild(); }, true);
  add(
      select, tr("Event as &range"), {QKeySequence("R")}, [t] { t->selectEventAsRange(); }, true);
  add(select, tr("C&lear"), {QKeySequence("Escape")}, [t] {
    t->clearSelection();
    t->setFocus();
  });
}

void MainWindow::showShortcuts() {
  QString table = "<table cellpadding='2'>";
  for (const QAction* menu : menuBar()->actions()) {
    table += "<tr><th align='left' colspan='2'>" + menu->text().remove('&') + "</th></tr>";
    for (const QAction* action : menu->menu()->actions()) {
      if (action->shortcuts().isEmpty()) continue;
      QStringList keys;
      for (const QKeySequence& key : action->shortcuts()) keys += key.toString(QKeySequence::NativeText);
      table += "<tr><td>" + action->text().remove('&').toHtmlEscaped() + "</td><td>" +
               keys.join(", ").toHtmlEscaped() + "</td></tr>";
    }
  }
  table += "</table>" +
           tr("<p>Mouse: Ctrl+wheel zooms, Shift+wheel pans, drag selects a range, Alt+drag zooms to one, "
              "middle button or Space+drag pans, double click fits an event.</p>");
  auto* box = new QMessageBox(QMessageBox::NoIcon, tr("Keys"), table, QMessageBox::Close, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

}  // namespace pitwall::gui
