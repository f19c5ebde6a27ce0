// What happened in the selected range, by name, category, layer, thread, stream or phase; computed in the
// background, for the latest request only.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "gui/models/aggregate_model.h"
#include "gui/models/background.h"
#include "gui/models/range_groups.h"
#include "gui/models/trace_session.h"
#include "gui/views/data_table.h"

namespace pitwall::gui {

class RangeView final : public QWidget {
  Q_OBJECT
 public:
  explicit RangeView(QWidget* parent = nullptr);
  ~RangeView() override;

  // Groupings that the timeline has no column of are queried from this session; it outlives the view.
  void setSession(TraceSession* session) { session_ = session; }
  // Aggregates [from, to) over these tracks; emits the result later.
  void ask(std::shared_ptr<const Timeline> timeline, std::vector<std::size_t> tracks, TimeNs from, TimeNs to);
  void clear();
  void setGrouping(RangeGrouping grouping) { grouping_->setCurrentIndex(static_cast<int>(grouping)); }
  RangeGrouping grouping() const { return static_cast<RangeGrouping>(grouping_->currentIndex()); }
  const AggregateModel& model() const { return *model_; }

 public slots:
  void copySelected() { table_->copy(); }

 signals:
  void nameActivated(quint32 name);  // a row of a name was double-clicked
  void answered();
  void remarked(const QString& text);

 private:
  void askAgain();
  void askTrace();
  void show(GroupedRows answer);

  AggregateModel* model_;
  DataTable* table_;
  QComboBox* grouping_;
  QPushButton* copy_;
  QLabel* title_;
  TraceSession* session_ = nullptr;
  std::shared_ptr<const Timeline> timeline_;
  std::vector<std::size_t> tracks_;
  TimeNs from_ = 0, to_ = 0;
  Background background_;
  std::shared_ptr<std::atomic<bool>> cancel_;  // of the request to the session
};

}  // namespace pitwall::gui
