// Actions of the window that write files, compare, and choose colours.
#include <QActionGroup>
#include <QFileDialog>
#include <QFileInfo>
#include <QSettings>
#include <QStatusBar>

#include "gui/app/exports.h"
#include "gui/app/main_window.h"
#include "gui/app/open_dialog.h"
#include "gui/app/theme.h"
#include "gui/views/event_colors.h"

namespace pitwall::gui {

void MainWindow::makeExportActions() {
  const auto ask = [this] {
    const QString path = askForTrace(this, tr("Open trace B, to compare with"));
    if (!path.isEmpty()) compareWith(path);
  };
  actions_->add(MenuId::file, {"file.compare", tr("&Compare with..."), "Ctrl+Shift+D", ask});
  connect(compare_, &ComparePage::otherWanted, this, ask);
  connect(compare_, &ComparePage::failed, this, &MainWindow::showError);
  actions_->addSeparator(MenuId::file);
  actions_->add(MenuId::file,
                {"file.picture", tr("Save &picture..."), "Ctrl+Shift+E", [this] { exportPicture(); }});
  actions_->add(MenuId::file, {"file.report", tr("Save report as &HTML..."), "", [this] { exportReport(); }});
  actions_->add(MenuId::file, {"file.range", tr("Save selected &range as a trace..."), "Ctrl+Shift+R",
                               [this] { exportSelectedRange(); }});
}

void MainWindow::makeThemeActions() {
  auto* group = new QActionGroup(this);
  const QString saved = QSettings().value("theme", "system").toString();
  const auto add = [&](Theme theme, const char* id, const QString& text) {
    QAction* action = actions_->add(MenuId::view, {id, text, "", [theme] {
                                                     QSettings().setValue("theme", nameOf(theme));
                                                     applyTheme(theme);
                                                   }});
    action->setCheckable(true);
    action->setChecked(saved == nameOf(theme));
    group->addAction(action);
  };
  add(Theme::system, "view.theme_system", tr("Colours of the &desktop"));
  add(Theme::light, "view.theme_light", tr("L&ight colours"));
  add(Theme::dark, "view.theme_dark", tr("Dar&k colours"));
  actions_->addSeparator(MenuId::view);
}

void MainWindow::makeColorActions() {
  QAction* category =
      actions_->add(MenuId::view, {"view.color_category", tr("Colours b&y category, not by name"), "", [] {
                                     const bool by_name = eventColoring() == ColorBy::name;
                                     setEventColoring(by_name ? ColorBy::category : ColorBy::name);
                                     QSettings().setValue("color_by_category", by_name);
                                   }});
  category->setCheckable(true);
  category->setChecked(QSettings().value("color_by_category").toBool());
  setEventColoring(category->isChecked() ? ColorBy::category : ColorBy::name);
  const std::vector<TimelineView*> views = timelines();
  QAction* legend = actions_->add(MenuId::view, {"view.legend", tr("Le&gend"), "", [views] {
                                                   const bool shown =
                                                       !QSettings().value("legend", true).toBool();
                                                   QSettings().setValue("legend", shown);
                                                   for (TimelineView* view : views)
                                                     view->setLegendShown(shown);
                                                 }});
  legend->setCheckable(true);
  legend->setChecked(QSettings().value("legend", true).toBool());
  for (TimelineView* view : views) {
    view->setLegendShown(legend->isChecked());
    connect(view, &TimelineView::nameActivated, search_, &QLineEdit::setText);
  }
}

// Of the page in front: the timeline, the comparison, ...
void MainWindow::exportPicture() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save picture"), "timeline.png",
                                                    tr("PNG picture (*.png);;SVG drawing (*.svg)"));
  if (path.isEmpty()) return;
  if (!savePicture(*pages_->currentWidget(), path))
    showError(tr("%1: the picture cannot be written").arg(path));
}

// The page that `pitwall analyze --format html` writes.
void MainWindow::exportReport() {
  if (!findings_->report()) return showRemark(tr("The trace is not analysed yet."));
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save report"), "report.html", tr("HTML page (*.html)"));
  if (path.isEmpty()) return;
  pitwall::gui::exportReport(*session_, path, this, [this, path](const QString& error) {
    if (!error.isEmpty()) return showError(error);
    showRemark(tr("%1 is written.").arg(path));
  });
}

void MainWindow::exportSelectedRange() {
  if (!timeline_->timeline() || !timeline_->range()) {
    statusBar()->showMessage(tr("Select a range first: drag over the timeline."), 15000);
    return;
  }
  const QString proposal = QFileInfo(session_->path()).completeBaseName() + "-part.pitwall";
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save range as a trace"), proposal, tr("Traces (*.pitwall)"));
  if (path.isEmpty()) return;
  exportRange(*session_, *timeline_->range(), path, this,
              [this, path](const QString& error, qlonglong events) {
                if (!error.isEmpty()) return showError(error);
                statusBar()->showMessage(tr("%1 contains %2 events").arg(path).arg(events), 15000);
              });
}

}  // namespace pitwall::gui
