// All events as a table: filter, sort, copy, export; a double click shows one on the timeline.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTimer>
#include <QWidget>

#include "gui/models/event_table_model.h"
#include "gui/views/data_table.h"
#include "gui/views/page.h"

namespace pitwall::gui {

class EventsPage final : public Page {
  Q_OBJECT
 public:
  explicit EventsPage(QWidget* parent = nullptr);

  // Nothing is computed until the page is shown.
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  void setRange(std::optional<std::pair<TimeNs, TimeNs>> range);
  void setWords(const QString& words);
  const EventTableModel& model() const { return *model_; }
  DataTable& table() { return *table_; }

 public slots:
  void exportCsv();  // opens a file dialog
  void exportCsvTo(const QString& path);
  void copy() { table_->copy(); }

 signals:
  void eventActivated(const EventRef& event);
  void remarked(const QString& text);
  void failed(const QString& what);
  void exported();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void applyFilter();
  void showState();

  std::shared_ptr<const Timeline> waiting_;  // until the page is shown
  std::optional<std::pair<TimeNs, TimeNs>> range_;
  EventTableModel* model_;
  DataTable* table_;
  QLineEdit* words_;
  QCheckBox* in_range_;
  QLabel* state_;
  QPushButton* export_;
  QTimer typing_;  // one request per pause, not one per letter
  Background writing_;
};

}  // namespace pitwall::gui
