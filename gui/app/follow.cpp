// A file that changes while it is open: a recording that goes on is followed, of others a notice says it.
#include <QFileInfo>
#include <QSettings>

#include "gui/app/main_window.h"

namespace pitwall::gui {
namespace {

constexpr int kPauseFactor = 3;  // reading again takes a quarter of the time at most

}  // namespace

void MainWindow::makeFollow() {
  follow_ = actions_->add(MenuId::file, {"file.follow", tr("&Follow a running recording"), "", [this] {
                                           QSettings().setValue("follow", follow_->isChecked());
                                           if (follow_->isChecked()) fileChanged();
                                         }});
  follow_->setCheckable(true);
  follow_->setChecked(QSettings().value("follow", true).toBool());
  next_refresh_.setSingleShot(true);
  connect(watch_, &FileWatch::changed, this, &MainWindow::fileChanged);
  connect(&next_refresh_, &QTimer::timeout, this, [this] {
    if (std::exchange(refresh_wanted_, false)) fileChanged();
  });
  connect(session_, &TraceSession::timelineRefreshed, this, &MainWindow::showRefreshed);
}

void MainWindow::fileChanged() {
  const auto& timeline = timeline_->timeline();
  if (!timeline) return;  // it is being opened, or nothing in it could be shown
  const QString name = QFileInfo(session_->path()).fileName();
  if (timeline->complete) return notice_->setText(tr("%1 has changed on disk. F5 opens it again.").arg(name));
  if (!follow_->isChecked()) return;
  refresh_wanted_ = next_refresh_.isActive() || refreshing_.isValid();
  if (refresh_wanted_) return;
  refreshing_.start();
  session_->refresh();
}

void MainWindow::showRefreshed(const std::shared_ptr<const Timeline>& timeline) {
  if (!timeline_->timeline()) return;
  if (refreshing_.isValid()) next_refresh_.start(static_cast<int>(refreshing_.elapsed()) * kPauseFactor);
  refreshing_.invalidate();
  if (!timeline) return;
  timeline_->replaceTimeline(timeline);
  timeline_->setRowFilter(row_filter_->text());
  if (!search_->text().isEmpty()) typing_.start();
  showCounts(*timeline);
  if (timeline->complete) {
    notice_->setText({});
    findings_->setWaiting(tr("Analysing ..."));
    showRemark(tr("The recording is complete."));
  }
  emit refreshed();
}

}  // namespace pitwall::gui
