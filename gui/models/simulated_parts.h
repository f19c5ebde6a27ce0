// The critical path of an iteration as recorded and after a change, side by side.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "analyzer/simulate.h"

namespace pitwall::gui {

class SimulatedPartsModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kTitle, kPart, kRecorded, kSimulated, kDelta, kColumns };

  explicit SimulatedPartsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  // Those on either path, the longest first. `simulated` null: only the recorded one is known.
  void setPaths(const SimulatedPath& recorded, const SimulatedPath* simulated);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  // Qt::UserRole: the text, or ns.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  struct Row {
    QString title, part;
    TimeNs recorded_ns = 0, simulated_ns = 0;
    TimeNs deltaNs() const { return simulated_ns - recorded_ns; }
  };
  QVariant value(const Row& row, int column) const;
  void sortRows();

  std::vector<Row> rows_;
  bool has_simulated_ = false;
  int column_ = -1;  // sorted by; below 0: the longest on either path first
  Qt::SortOrder order_ = Qt::DescendingOrder;
};

}  // namespace pitwall::gui
