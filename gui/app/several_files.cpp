// Several files that are opened together: one timeline of all, or a comparison.
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include "gui/app/main_window.h"

namespace pitwall::gui {
namespace {

QString nameOfAll(const QStringList& paths) {
  const QString first = QFileInfo(paths.front()).fileName();
  if (paths.size() == 1) return first;
  return MainWindow::tr("%1 and %n more", nullptr, static_cast<int>(paths.size()) - 1).arg(first);
}

}  // namespace

void MainWindow::openFiles(const QStringList& paths) {
  if (paths.isEmpty()) return;
  if (paths.size() == 1) return open(paths.front());
  auto* question =
      new QMessageBox(QMessageBox::Question, tr("Open several files"),
                      tr("%1 files. Show them as one timeline, or compare them?").arg(paths.size()),
                      QMessageBox::NoButton, this);
  question->setObjectName("several_files");
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->setInformativeText(
      tr("One timeline: ranks or parts of one run, on a common clock. Compare: runs before and after a "
         "change, or on 1, 2 and 4 "
         "devices."));
  QPushButton* merged = question->addButton(tr("&One timeline"), QMessageBox::AcceptRole);
  QPushButton* compared = question->addButton(tr("&Compare"), QMessageBox::AcceptRole);
  merged->setObjectName("merge");
  compared->setObjectName("compare");
  question->addButton(QMessageBox::Cancel);
  connect(merged, &QPushButton::clicked, this, [this, paths] { openMerged(paths); });
  connect(compared, &QPushButton::clicked, this, [this, paths] { compareAll(paths); });
  question->open();
}

void MainWindow::openMerged(const QStringList& paths) {
  startOpening(nameOfAll(paths));
  watch_->watch({});
  session_->open(paths);
  for (const QString& path : paths) remember(path);
}

void MainWindow::compareAll(const QStringList& paths) {
  open(paths.front());
  if (paths.size() > 1) compareWith(paths[1]);
  compare_->setRuns(paths.size() > 2 ? paths : QStringList());
}

}  // namespace pitwall::gui
