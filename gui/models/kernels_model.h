// The table of kernels by name and launch.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "gui/models/kernel_groups.h"

namespace pitwall::gui {

class KernelsModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    kName,
    kCount,
    kTotal,
    kShare,
    kMean,
    kLongest,
    kOccupancy,
    kLimiter,
    kAchieved,
    kGrid,
    kBlock,
    kRegisters,
    kShared,
    kLocal,
    kColumns
  };

  explicit KernelsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setGroups(std::vector<KernelGroup> groups);
  void setFilter(const QString& text);  // names that contain it, ignoring case
  const KernelGroup& group(int row) const { return all_[shown_[static_cast<std::size_t>(row)]]; }
  std::size_t countAll() const { return all_.size(); }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;  // UserRole: the number
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QVariant plain(const KernelGroup& group, int column) const;
  QString text(const KernelGroup& group, int column) const;
  void applyFilter();

  std::vector<KernelGroup> all_;
  std::vector<std::size_t> shown_;
  QString filter_;
  TimeNs total_ns_ = 0;
  int sorted_by_ = kTotal;
  Qt::SortOrder order_ = Qt::DescendingOrder;
};

}  // namespace pitwall::gui
