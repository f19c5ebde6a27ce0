// The trials of `pitwall tune`: settings, their predicted and measured gains, and the way to the traces before and after.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "gui/models/trials_model.h"
#include "gui/views/data_table.h"
#include "gui/views/page.h"

namespace pitwall::gui {

class TrialsPage final : public Page {
  Q_OBJECT
 public:
  explicit TrialsPage(QWidget* parent = nullptr);

  // What the search wrote into the folder. False: it is no folder of a search, or its result is damaged, which failed() says.
  bool showFolder(const QString& folder);
  void clear();
  const TrialsModel& model() const { return *model_; }
  DataTable& table() { return *table_; }
  QString state() const { return state_->text(); }
  QPushButton& compareButton() { return *compare_; }
  QPushButton& copyButton() { return *copy_; }

 signals:
  void comparisonWanted(const QString& first, const QString& best);
  void remarked(const QString& text);
  void failed(const QString& what);

 private:
  void copySettings();

  TrialsModel* model_;
  DataTable* table_;
  QLabel* state_;
  QPushButton *compare_, *copy_;
};

}  // namespace pitwall::gui
