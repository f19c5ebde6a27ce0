// What the window shows while no trace is open: what to do next, recent files, what can be opened.
#pragma once

#include <QListWidget>
#include <QPushButton>
#include <QWidget>

namespace pitwall::gui {

class StartPage final : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(QWidget* parent);  // covers its parent

  void setRecent(const QStringList& paths);  // latest first
  QListWidget& recent() { return *recent_; }

 signals:
  void openWanted();
  void compareWanted();
  void fileWanted(const QString& path);
  void cleanWanted();  // takes files that are gone off the list

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QListWidget* recent_;
  QPushButton *open_, *compare_, *clean_;
  QWidget* recent_part_;  // heading and list
};

}  // namespace pitwall::gui
