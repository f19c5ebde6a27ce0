// SQL queries to the trace, read-only as in `pitwall query`: editor with history, schema, result as a
// table.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QWidget>

#include "gui/models/sql_model.h"
#include "gui/views/data_table.h"

namespace pitwall::gui {

class SqlPage final : public QWidget {
  Q_OBJECT
 public:
  explicit SqlPage(QWidget* parent = nullptr);

  void setTrace(const QString& path);  // empty: none
  void setQuery(const QString& sql) { editor_->setPlainText(sql); }
  QString query() const { return editor_->toPlainText(); }
  const SqlModel& model() const { return *model_; }
  QString state() const { return state_->text(); }
  QStringList history() const { return history_; }  // latest first

 public slots:
  void run();
  void cancel();
  void older();  // of the history
  void newer();

 signals:
  void answered();
  void remarked(const QString& text);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeLayout();
  void fillSchema();
  void show(std::shared_ptr<const SqlAnswer> answer);
  void remember(const QString& sql);
  void showHistory(int at);
  void setBusy(bool busy);

  std::shared_ptr<SqlSource> source_;
  QPlainTextEdit* editor_;
  QTreeWidget* schema_;
  DataTable* table_;
  SqlModel* model_;
  QComboBox* past_;
  QLabel* state_;
  QPushButton *run_, *cancel_;
  QStringList history_;
  int at_ = -1;  // shown of the history; -1: what is being written
  Background background_;
};

}  // namespace pitwall::gui
