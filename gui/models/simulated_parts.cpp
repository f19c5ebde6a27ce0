#include "gui/models/simulated_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/units_text.h"
#include "db/function_name.h"
#include "gui/models/signed_text.h"

namespace pitwall::gui {
namespace {

QString partTime(qlonglong ns) { return QString::fromStdString(showDuration(static_cast<double>(ns))); }

}  // namespace

void SimulatedPartsModel::setPaths(const SimulatedPath& recorded, const SimulatedPath* simulated) {
  std::map<std::pair<std::string, std::string>, Row> rows;
  const auto rowOf = [&](const SimulatedPart& part) -> Row& {
    Row& row = rows[{part.title, part.part}];
    row.title = QString::fromStdString(part.title);
    row.part = QString::fromStdString(part.part);
    return row;
  };
  for (const SimulatedPart& part : recorded.parts) rowOf(part).recorded_ns += part.time_ns;
  if (simulated != nullptr) {
    for (const SimulatedPart& part : simulated->parts) rowOf(part).simulated_ns += part.time_ns;
  }
  beginResetModel();
  has_simulated_ = simulated != nullptr;
  rows_.clear();
  for (auto& [key, row] : rows) rows_.push_back(std::move(row));
  sortRows();
  endResetModel();
}

int SimulatedPartsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SimulatedPartsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant SimulatedPartsModel::value(const Row& row, int column) const {
  switch (column) {
    case kTitle: return row.title;
    case kPart: return row.part;
    case kRecorded: return qlonglong{row.recorded_ns};
    case kSimulated: return has_simulated_ ? QVariant(qlonglong{row.simulated_ns}) : QVariant();
    default: return has_simulated_ ? QVariant(qlonglong{row.deltaNs()}) : QVariant();
  }
}

QVariant SimulatedPartsModel::data(const QModelIndex& index, int role) const {
  const QVariant plain = value(rows_[static_cast<std::size_t>(index.row())], index.column());
  if (role == Qt::TextAlignmentRole && index.column() >= kRecorded)
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::UserRole) return plain;
  if (role == Qt::ToolTipRole && index.column() == kTitle) return plain;
  if (role == Qt::DisplayRole && index.column() == kTitle)
    return QString::fromStdString(shortName(plain.toString().toStdString()));
  if (role != Qt::DisplayRole || !plain.isValid()) return {};
  if (index.column() < kRecorded) return plain;
  const qlonglong ns = plain.toLongLong();
  if (index.column() != kDelta) return ns == 0 ? QStringLiteral("-") : partTime(ns);
  return ns == 0 ? QString()
                 : withSign(static_cast<double>(ns), showDuration(std::abs(static_cast<double>(ns))));
}

QVariant SimulatedPartsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole && section == kDelta)
    return tr("Time of an iteration on the critical path, after less before");
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kTitle: return tr("On the critical path, of an iteration");
    case kPart: return tr("Is");
    case kRecorded: return tr("Recorded");
    case kSimulated: return tr("Simulated");
    default: return tr("Change");
  }
}

void SimulatedPartsModel::sort(int column, Qt::SortOrder order) {
  column_ = column;
  order_ = order;
  emit layoutAboutToBeChanged();
  sortRows();
  emit layoutChanged();
}

void SimulatedPartsModel::sortRows() {
  if (column_ < 0) {
    std::ranges::stable_sort(rows_, std::greater(),
                             [](const Row& row) { return std::max(row.recorded_ns, row.simulated_ns); });
    return;
  }
  const auto before = [this](const Row& a, const Row& b) {
    if (column_ < kRecorded) return value(a, column_).toString() < value(b, column_).toString();
    return value(a, column_).toLongLong() < value(b, column_).toLongLong();
  };
  std::ranges::stable_sort(rows_, [&](const Row& a, const Row& b) {
    return order_ == Qt::AscendingOrder ? before(a, b) : before(b, a);
  });
}

}  // namespace pitwall::gui
