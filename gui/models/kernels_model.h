// Kernels of devices by name and launch: how often, how long, their grid, block, registers and shared memory, and what limits their occupancy.
#pragma once

#include <QAbstractTableModel>
#include <atomic>
#include <optional>
#include <vector>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

// Launches of one kernel with equal facts.
struct KernelGroup {
  std::string name, label;  // whole, and short as on the timeline
  KernelFacts facts;        // all unknown where the trace records none
  std::int64_t count = 0;
  TimeNs total_ns = 0, longest_ns = 0;
  std::optional<EventRef> longest;

  std::int64_t blocks() const;   // 0 = unknown
  std::int64_t threads() const;  // of a block; 0 = unknown
  Bytes sharedBytes() const { return facts.static_shared_bytes + facts.dynamic_shared_bytes; }
};

// Of all streams, longest total first. Errors: those of reading; cancelled.
Result<std::vector<KernelGroup>> kernelGroups(Trace& trace, const Timeline& timeline,
                                              const std::atomic<bool>& cancel);

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
