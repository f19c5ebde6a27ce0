#include "gui/models/kernels_model.h"

#include <QSize>
#include <algorithm>

#include "analyzer/units_text.h"

namespace pitwall::gui {
namespace {

QString extentText(const std::array<std::int32_t, 3>& extent) {
  if (std::count(extent.begin(), extent.end(), 0) != 0) return QStringLiteral("-");
  return QString::fromUtf8("%1 \u00d7 %2 \u00d7 %3").arg(extent[0]).arg(extent[1]).arg(extent[2]);
}

}  // namespace

void KernelsModel::setGroups(std::vector<KernelGroup> groups) {
  beginResetModel();
  all_ = std::move(groups);
  total_ns_ = 0;
  for (const KernelGroup& group : all_) total_ns_ += group.total_ns;
  applyFilter();
  endResetModel();
}

void KernelsModel::setFilter(const QString& text) {
  beginResetModel();
  filter_ = text;
  applyFilter();
  endResetModel();
}

void KernelsModel::applyFilter() {
  shown_.clear();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (QString::fromStdString(all_[i].name).contains(filter_, Qt::CaseInsensitive)) shown_.push_back(i);
  }
  const auto less = [this](std::size_t a, std::size_t b) {
    const QVariant x = plain(all_[a], sorted_by_), y = plain(all_[b], sorted_by_);
    if (x.metaType().id() == QMetaType::QString) return x.toString() < y.toString();
    return x.toDouble() < y.toDouble();
  };
  std::stable_sort(shown_.begin(), shown_.end(), [&](std::size_t a, std::size_t b) {
    return order_ == Qt::AscendingOrder ? less(a, b) : less(b, a);
  });
}

void KernelsModel::sort(int column, Qt::SortOrder order) {
  beginResetModel();
  sorted_by_ = column;
  order_ = order;
  applyFilter();
  endResetModel();
}

int KernelsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

int KernelsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant KernelsModel::plain(const KernelGroup& group, int column) const {
  switch (column) {
    case kName: return QString::fromStdString(group.name);
    case kCount: return static_cast<qlonglong>(group.count);
    case kTotal: return static_cast<qlonglong>(group.total_ns);
    case kShare:
      return static_cast<double>(group.total_ns) / static_cast<double>(std::max<TimeNs>(1, total_ns_));
    case kMean: return static_cast<qlonglong>(group.total_ns / std::max<std::int64_t>(1, group.count));
    case kLongest: return static_cast<qlonglong>(group.longest_ns);
    case kGrid: return static_cast<qlonglong>(group.blocks());
    case kBlock: return static_cast<qlonglong>(group.threads());
    case kRegisters: return group.facts.registers_per_thread;
    case kShared: return static_cast<qlonglong>(group.sharedBytes());
    case kLocal: return static_cast<qlonglong>(group.facts.local_bytes);
    case kOccupancy: return group.facts.theoretical_occupancy;
    case kLimiter: return QString::fromStdString(group.facts.limiter);
    case kAchieved: return group.achieved_occupancy.value_or(-1);
    default: return {};
  }
}

QString KernelsModel::text(const KernelGroup& group, int column) const {
  const double value = plain(group, column).toDouble();
  switch (column) {
    case kName: return QString::fromStdString(group.label);
    case kCount: return QString::fromStdString(showCount(group.count));
    case kTotal:
    case kMean:
    case kLongest: return QString::fromStdString(showDuration(value));
    case kShare: return QString::fromStdString(showShare(value));
    case kGrid: return extentText(group.facts.grid);
    case kBlock: return extentText(group.facts.block);
    case kRegisters:
      return value > 0 ? QString::number(group.facts.registers_per_thread) : QStringLiteral("-");
    case kShared:
    case kLocal: return group.threads() > 0 ? QString::fromStdString(showBytes(value)) : QStringLiteral("-");
    case kOccupancy: return value > 0 ? QString::fromStdString(showShare(value)) : QStringLiteral("-");
    case kAchieved: return value >= 0 ? QString::fromStdString(showShare(value)) : QStringLiteral("-");
    default: return plain(group, column).toString();
  }
}

QVariant KernelsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const KernelGroup& of = group(index.row());
  if (role == Qt::UserRole || (role == Qt::ToolTipRole && index.column() == kName))
    return plain(of, index.column());
  if (role == Qt::DisplayRole) return text(of, index.column());
  const bool words = index.column() == kName || index.column() == kLimiter;
  if (role == Qt::TextAlignmentRole)
    return QVariant(words ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

QVariant KernelsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::InitialSortOrderRole)
    return section == kName || section == kLimiter ? Qt::AscendingOrder : Qt::DescendingOrder;
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  static const char* const kTitles[] = {
      QT_TR_NOOP("Kernel"),        QT_TR_NOOP("Count"),       QT_TR_NOOP("Total"),
      QT_TR_NOOP("Share"),         QT_TR_NOOP("Mean"),        QT_TR_NOOP("Longest"),
      QT_TR_NOOP("Occupancy"),     QT_TR_NOOP("Limited by"),  QT_TR_NOOP("Achieved"),
      QT_TR_NOOP("Grid"),          QT_TR_NOOP("Block"),       QT_TR_NOOP("Registers"),
      QT_TR_NOOP("Shared memory"), QT_TR_NOOP("Local memory")};
  static const char* const kMeanings[] = {
      "",
      QT_TR_NOOP("Launches with this grid and block"),
      "",
      QT_TR_NOOP("Of the time of all kernels"),
      "",
      "",
      QT_TR_NOOP(
          "The share of a multiprocessor's warps that the launch fills, computed from it and not measured"),
      QT_TR_NOOP("What keeps the occupancy from 100 %"),
      QT_TR_NOOP(
          "The share of a multiprocessor's warps that were active while kernels of this name ran, where the "
          "trace has the hardware counter sm__warps_active.avg.pct_of_peak_sustained_active"),
      QT_TR_NOOP("Blocks: x, y, z"),
      QT_TR_NOOP("Threads of a block: x, y, z"),
      QT_TR_NOOP("Of a thread"),
      QT_TR_NOOP("Of a block, static and dynamic"),
      QT_TR_NOOP("Of a thread: what does not fit into its registers")};
  if (role == Qt::ToolTipRole && *kMeanings[section] != 0) return tr(kMeanings[section]);
  return role == Qt::DisplayRole ? QVariant(tr(kTitles[section])) : QVariant();
}

}  // namespace pitwall::gui
