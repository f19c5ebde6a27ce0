// The start page, recent files, and the end of loading.
#include <QFileInfo>
#include <QSettings>

#include "gui/app/main_window.h"
#include "gui/app/open_dialog.h"

namespace pitwall::gui {
namespace {

constexpr int kRecentFiles = 10;

}  // namespace

bool MainWindow::stopLoading() {
  if (progress_->isHidden()) return false;
  const QString path = session_->path();
  if (!timeline_->timeline()) {
    closeTrace();
    showRemark(tr("Loading %1 was stopped.").arg(path));
    return true;
  }
  session_->stop();
  showProgress(false);
  findings_->setWaiting(tr("The analysis was stopped. F5 begins again."));
  return true;
}

void MainWindow::showProgress(bool on) {
  progress_->setVisible(on);
  stop_->setVisible(on);
}

void MainWindow::makeStartPage() {
  connect(start_, &StartPage::openWanted, this, &MainWindow::askAndOpen);
  connect(start_, &StartPage::fileWanted, this, &MainWindow::open);
  connect(start_, &StartPage::cleanWanted, this, &MainWindow::cleanRecent);
  connect(start_, &StartPage::compareWanted, this, [this] {
    const QString a = askForTrace(this, tr("Open trace A"));
    const QString b = a.isEmpty() ? QString() : askForTrace(this, tr("Open trace B, to compare with"));
    if (b.isEmpty()) return;
    open(a);
    compareWith(b);
  });
}

void MainWindow::openTrials(const QString& folder) {
  TrialsPage& page = trace_pages_->trials();
  if (!page.showFolder(folder)) return;
  const QString first = page.model().trials().first_trace;
  if (!first.isEmpty()) open(first);  // which shows its trials too
  if (first.isEmpty()) remember(folder);
  start_->hide();
  showPage(&page);
}

void MainWindow::askAndOpen() { openFiles(askForTraces(this, tr("Open a trace, or several"))); }

void MainWindow::cleanRecent() {
  QSettings settings;
  QStringList files = settings.value("recent").toStringList();
  files.removeIf([](const QString& path) { return !QFileInfo::exists(path); });
  settings.setValue("recent", files);
  updateRecent();
}

void MainWindow::remember(const QString& path) {
  QSettings settings;
  QStringList files = settings.value("recent").toStringList();
  const QString whole = QFileInfo(path).absoluteFilePath();
  files.removeAll(whole);
  files.prepend(whole);
  settings.setValue("recent", files.mid(0, kRecentFiles));
  updateRecent();
}

void MainWindow::updateRecent() {
  recent_->clear();
  const QStringList files = QSettings().value("recent").toStringList();
  bool missing = false;
  for (const QString& path : files) {
    QAction* action = recent_->addAction(path, this, [this, path] { open(path); });
    action->setEnabled(QFileInfo::exists(path));
    missing |= !action->isEnabled();
  }
  if (missing) {
    recent_->addSeparator();
    recent_->addAction(tr("Remove &missing files"), this, &MainWindow::cleanRecent);
  }
  start_->setRecent(files);
  recent_->setEnabled(!recent_->isEmpty());
}

}  // namespace pitwall::gui
