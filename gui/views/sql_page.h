// SQL queries to the trace, read-only as in `pitwall query`: editor with history, schema, result as a
// table.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>
#include <QWidget>
#include <optional>

#include "gui/models/sql_model.h"
#include "gui/views/data_table.h"
#include "gui/views/page.h"
#include "gui/views/sql_editor.h"

namespace pitwall::gui {

class SqlPage final : public Page {
  Q_OBJECT
 public:
  explicit SqlPage(QWidget* parent = nullptr);

  void setTrace(const QString& path);  // empty: none
  void setQuery(const QString& sql) { editor_->setPlainText(sql); }
  QString query() const { return editor_->toPlainText(); }
  const SqlModel& model() const { return *model_; }
  DataTable& table() { return *table_; }
  const QTreeWidget& schema() const { return *schema_; }
  SqlEditor& editor() { return *editor_; }
  QString state() const { return state_->text(); }
  QStringList history() const { return history_; }  // latest first

 public slots:
  void run();
  void cancel();
  void older();  // of the history
  void newer();

 signals:
  void answered();
  // A row was double-clicked: the event with that id, or a time range.
  void eventWanted(qint64 id);
  void timesWanted(qint64 from_ns, qint64 to_ns);
  void remarked(const QString& text);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void makeLayout();
  void fillSchema();
  void show(std::shared_ptr<const SqlAnswer> answer);
  void remember(const QString& sql);
  void showHistory(int at);
  void setBusy(bool busy);
  void openRow(int row);
  std::optional<qint64> numberIn(int row, const QString& column) const;

  std::shared_ptr<SqlSource> source_;
  SqlEditor* editor_;
  QTreeWidget* schema_;
  DataTable* table_;
  SqlModel* model_;
  QComboBox* past_;
  QLabel* state_;
  QPushButton *run_, *cancel_;
  QString asked_;  // what the answer is to
  QStringList history_;
  int at_ = -1;  // shown of the history; -1: what is being written
  Background background_;
};

}  // namespace pitwall::gui
