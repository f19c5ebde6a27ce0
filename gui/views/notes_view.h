// Notes and bookmarks: a list, edited in place.
#pragma once

#include <QLabel>
#include <QWidget>

#include "gui/models/notes_model.h"
#include "gui/views/data_table.h"

namespace pitwall::gui {

class NotesView final : public QWidget {
  Q_OBJECT
 public:
  explicit NotesView(QWidget* parent = nullptr);
  NotesModel& model() { return *model_; }
  int current() const { return table_->currentIndex().isValid() ? table_->currentIndex().row() : -1; }
  void setCurrent(int row);
  void edit(int row);

 signals:
  void activated(int row);

 private:
  NotesModel* model_;
  DataTable* table_;
  QLabel* empty_;
};

}  // namespace pitwall::gui
