// An input line and what matches it: actions, rows, names, or SQL after ":". Up, Down, Return, Escape.
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListView>

#include "gui/models/command_model.h"

namespace pitwall::gui {

class CommandPalette final : public QDialog {
  Q_OBJECT
 public:
  explicit CommandPalette(QWidget* parent);

  CommandModel& model() { return *model_; }
  // Over the parent's upper half, with this text typed.
  void openWith(const QString& typed);
  QLineEdit& line() { return *line_; }

 signals:
  void chosen(const pitwall::gui::Command& command);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void choose(const QModelIndex& index);

  CommandModel* model_;
  QLineEdit* line_;
  QListView* list_;
};

}  // namespace pitwall::gui
