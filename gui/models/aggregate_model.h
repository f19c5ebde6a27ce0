// Table of what happened in a range, by name; sorts itself by any column, copies as text.
#pragma once

#include <QAbstractTableModel>

#include "gui/timeline/aggregate.h"

namespace pitwall::gui {

class AggregateModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kName, kCount, kTotal, kShare, kMean, kP50, kP99, kMin, kMax, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setRows(std::shared_ptr<const Timeline> timeline, std::vector<AggregateRow> rows);
  void clear();
  const AggregateRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }
  // Header and the rows given, with tabs; numbers in ns.
  QString asText(const QModelIndexList& rows) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;  // UserRole: the plain number
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QVariant number(const AggregateRow& row, int column) const;

  std::shared_ptr<const Timeline> timeline_;
  std::vector<AggregateRow> rows_;
  TimeNs total_ns_ = 0;
};

}  // namespace pitwall::gui
