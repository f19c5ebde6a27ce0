// What happened in the selected range, by name; computed beside the user interface, the latest question only.
#pragma once

#include <QLabel>
#include <QTableView>
#include <QWidget>
#include <atomic>

#include "gui/models/aggregate_model.h"

namespace pitwall::gui {

class RangeView final : public QWidget {
  Q_OBJECT
 public:
  explicit RangeView(QWidget* parent = nullptr);
  ~RangeView() override;

  // Aggregates [from, to) over these tracks; answers later.
  void ask(std::shared_ptr<const Timeline> timeline, std::vector<std::size_t> tracks, TimeNs from, TimeNs to);
  void clear();
  const AggregateModel& model() const { return *model_; }

 public slots:
  void copySelected() const;

 signals:
  void nameActivated(quint32 name);  // a row was double-clicked
  void answered();

 private:
  AggregateModel* model_;
  QTableView* table_;
  QLabel* title_;
  std::shared_ptr<std::atomic<bool>> cancel_;
};

}  // namespace pitwall::gui
