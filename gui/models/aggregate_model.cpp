#include "gui/models/aggregate_model.h"

#include <algorithm>
#include <iterator>

#include "analyzer/units_text.h"

namespace pitwall::gui {

void AggregateModel::setRows(std::shared_ptr<const Timeline> timeline, std::vector<AggregateRow> rows) {
  const auto* names = timeline ? &timeline->names : nullptr;
  setRows(std::shared_ptr<const std::vector<std::string>>(std::move(timeline), names), std::move(rows),
          tr("Name"));
}

void AggregateModel::setRows(std::shared_ptr<const std::vector<std::string>> labels,
                             std::vector<AggregateRow> rows, const QString& what) {
  beginResetModel();
  labels_ = std::move(labels);
  what_ = what;
  all_ = std::move(rows);
  total_ns_ = 0;
  for (const AggregateRow& row : all_) total_ns_ += row.total_ns;
  applyFilter();
  endResetModel();
}

void AggregateModel::setFilter(const QString& text) {
  beginResetModel();
  filter_ = text;
  applyFilter();
  endResetModel();
}

void AggregateModel::applyFilter() {
  rows_.clear();
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(rows_), [&](const AggregateRow& row) {
    return filter_.isEmpty() || number(row, kName).toString().contains(filter_, Qt::CaseInsensitive);
  });
}

void AggregateModel::clear() { setRows(nullptr, {}, tr("Name")); }

int AggregateModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int AggregateModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant AggregateModel::number(const AggregateRow& row, int column) const {
  switch (column) {
    case kName:
      return labels_ && row.name < labels_->size() ? QString::fromStdString((*labels_)[row.name]) : QString();
    case kCount: return QVariant::fromValue<qlonglong>(row.count);
    case kTotal: return QVariant::fromValue<qlonglong>(row.total_ns);
    case kSelf: return QVariant::fromValue<qlonglong>(row.self_ns);
    case kShare:
      return total_ns_ > 0 ? static_cast<double>(row.total_ns) / static_cast<double>(total_ns_) : 0.0;
    case kMean: return QVariant::fromValue<qlonglong>(row.mean_ns);
    case kP50: return QVariant::fromValue<qlonglong>(row.p50_ns);
    case kP99: return QVariant::fromValue<qlonglong>(row.p99_ns);
    case kMin: return QVariant::fromValue<qlonglong>(row.min_ns);
    case kMax: return QVariant::fromValue<qlonglong>(row.max_ns);
    default: return {};
  }
}

QVariant AggregateModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant(index.column() == kName ? Qt::AlignLeft | Qt::AlignVCenter
                                            : Qt::AlignRight | Qt::AlignVCenter);
  const QVariant plain = number(row(index.row()), index.column());
  if (role == Qt::UserRole || (role == Qt::ToolTipRole && index.column() == kName)) return plain;
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case kName: return plain.toString().isEmpty() ? tr("(no name)") : plain;
    case kCount: return QString::fromStdString(showCount(plain.toLongLong()));
    case kShare: return QString::fromStdString(showShare(plain.toDouble()));
    default: return QString::fromStdString(showDuration(plain.toDouble()));
  }
}

QVariant AggregateModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role == Qt::InitialSortOrderRole) return section == kName ? Qt::AscendingOrder : Qt::DescendingOrder;
  if (role == Qt::UserRole) {
    static const char* const kPlain[] = {"name",    "count",  "total_ns", "self_ns", "share",
                                         "mean_ns", "p50_ns", "p99_ns",   "min_ns",  "max_ns"};
    return QString::fromLatin1(kPlain[section]);
  }
  if (role != Qt::DisplayRole) return {};
  if (section == kName && !what_.isEmpty()) return what_;
  static const char* const kTitles[] = {
      QT_TR_NOOP("Name"), QT_TR_NOOP("Count"), QT_TR_NOOP("Total"), QT_TR_NOOP("Self"), QT_TR_NOOP("Share"),
      QT_TR_NOOP("Mean"), QT_TR_NOOP("p50"),   QT_TR_NOOP("p99"),   QT_TR_NOOP("Min"),  QT_TR_NOOP("Max")};
  return tr(kTitles[section]);
}

void AggregateModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged();
  const auto less = [&](const AggregateRow& a, const AggregateRow& b) {
    const QVariant x = number(a, column), y = number(b, column);
    if (column == kName) return x.toString() < y.toString();
    if (column == kShare) return x.toDouble() < y.toDouble();
    return x.toLongLong() < y.toLongLong();
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const AggregateRow& a, const AggregateRow& b) {
    return order == Qt::AscendingOrder ? less(a, b) : less(b, a);
  });
  emit layoutChanged();
}

}  // namespace pitwall::gui
