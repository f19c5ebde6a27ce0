#include "gui/models/file_watch.h"

#include <QFileInfo>

namespace pitwall::gui {
namespace {

constexpr int kLookMs = 1000;

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
  timer_.setInterval(kLookMs);
  connect(&timer_, &QTimer::timeout, this, &FileWatch::look);
}

void FileWatch::watch(const QString& path) {
  path_ = path;
  accept();
  path.isEmpty() ? timer_.stop() : timer_.start();
}

void FileWatch::accept() { known_ = stampNow(); }

FileWatch::Stamp FileWatch::stampNow() const {
  const QFileInfo file(path_), log(path_ + "-wal");
  Stamp stamp;
  if (path_.isEmpty() || !file.exists()) return stamp;
  stamp.size = file.size();
  stamp.time = file.lastModified();
  if (!log.exists()) return stamp;
  stamp.log_size = log.size();
  stamp.log_time = log.lastModified();
  return stamp;
}

void FileWatch::look() {
  const Stamp now = stampNow();
  if (now.size < 0 || now == known_) return;
  known_ = now;
  emit changed();
}

}  // namespace pitwall::gui
