// Says when a file has changed on disk. It is looked at from time to time, which works on every file system, unlike notices of the kernel.
#pragma once

#include <QDateTime>
#include <QObject>
#include <QTimer>

namespace pitwall::gui {

class FileWatch final : public QObject {
  Q_OBJECT
 public:
  explicit FileWatch(QObject* parent = nullptr);

  // Watches this file as it is now; empty: none.
  void watch(const QString& path);
  // Takes the file as it is now for known.
  void accept();
  // Looks now. A file that is away, as while it is replaced, has not changed.
  void look();
  void setInterval(int ms) { timer_.setInterval(ms); }

 signals:
  void changed();  // once for each change, until accept()

 private:
  // Of the file and of its log, into which a recording is written first.
  struct Stamp {
    qint64 size = -1, log_size = -1;
    QDateTime time, log_time;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stampNow() const;

  QString path_;
  Stamp known_;
  QTimer timer_;
};

}  // namespace pitwall::gui
