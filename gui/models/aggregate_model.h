// Table of sums over the events of a range, by name or another grouping; sortable by any column.
#pragma once

#include <QAbstractTableModel>

#include "gui/timeline/aggregate.h"

namespace pitwall::gui {

class AggregateModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kName, kCount, kTotal, kSelf, kShare, kMean, kP50, kP99, kMin, kMax, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setRows(std::shared_ptr<const Timeline> timeline, std::vector<AggregateRow> rows);
  // Of another grouping: row.name is the index of its label; `what` heads the first column.
  void setRows(std::shared_ptr<const std::vector<std::string>> labels, std::vector<AggregateRow> rows,
               const QString& what);
  void clear();
  // Only rows whose label contains the text, ignoring case; shares stay those of all.
  void setFilter(const QString& text);
  std::size_t countAll() const { return all_.size(); }
  QString label(int index) const { return number(row(index), kName).toString(); }
  const AggregateRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;  // UserRole: the number
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QVariant number(const AggregateRow& row, int column) const;
  void applyFilter();

  std::shared_ptr<const std::vector<std::string>> labels_;
  QString what_;
  QString filter_;
  std::vector<AggregateRow> all_, rows_;  // those that pass the filter
  TimeNs total_ns_ = 0;
};

}  // namespace pitwall::gui
