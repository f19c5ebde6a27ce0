// What happened in the selected range, by name, category, layer, thread, stream or phase; computed in the
// background, for the latest request only.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>
#include <optional>

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
  void setFilter(const QString& text) { filter_->setText(text); }
  // Into a row: the names of a group, what a thread or stream did; a single name is found on the timeline.
  void openRow(int row);
  void leaveRow();  // to where openRow() was called
  QString title() const { return title_->text(); }
  DataTable& table() { return *table_; }
  RangeGrouping grouping() const { return static_cast<RangeGrouping>(grouping_->currentIndex()); }
  const AggregateModel& model() const { return *model_; }

 public slots:
  void copySelected() { table_->copy(); }

 signals:
  void nameActivated(
      const QString& name);  // is to be found on the timeline; the part that its events have in common
  void answered();
  void remarked(const QString& text);

 private:
  void askAgain();
  void askTrace();
  void show(GroupedRows answer);
  void showTitle(const QString& error);
  void restart();

  // A row of a grouping that the trace is read for: only events of that layer, phase or category.
  struct Part {
    RangeGrouping grouping;
    std::string label;
  };
  // What openRow() went into.
  struct Level {
    RangeGrouping grouping;  // that it came from
    std::vector<std::size_t> tracks;
    std::optional<std::uint32_t> group;
    std::optional<Part> part;
    QString title;  // of the row
  };

  AggregateModel* model_;
  DataTable* table_;
  QComboBox* grouping_;
  QPushButton *copy_, *back_;
  QLineEdit* filter_;
  QLabel* title_;
  TraceSession* session_ = nullptr;
  std::shared_ptr<const Timeline> timeline_;
  std::vector<std::size_t> tracks_;
  std::vector<std::size_t> label_tracks_;  // of each row's label, where it is a track
  std::vector<Level> levels_;
  std::optional<std::uint32_t> group_;  // only names of this group
  std::optional<Part> part_;
  TimeNs from_ = 0, to_ = 0;
  Background background_;
  std::shared_ptr<std::atomic<bool>> cancel_;  // of the request to the session
};

}  // namespace pitwall::gui
