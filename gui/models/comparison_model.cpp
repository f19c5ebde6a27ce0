#include "gui/models/comparison_model.h"

#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/models/signed_text.h"

namespace pitwall::gui {
namespace {

QVariant numberOf(const Comparison::Change& change, int column) {
  switch (column) {
    case ChangesModel::kName: return QString::fromStdString(change.name);
    case ChangesModel::kA: return change.a_ns;
    case ChangesModel::kB: return change.b_ns;
    case ChangesModel::kDelta: return change.b_ns - change.a_ns;
    case ChangesModel::kShare: return change.a_ns > 0 ? change.b_ns / change.a_ns - 1 : QVariant();
    case ChangesModel::kACount: return QVariant::fromValue<qlonglong>(change.a_count);
    case ChangesModel::kBCount: return QVariant::fromValue<qlonglong>(change.b_count);
    default: return {};
  }
}

QString shown(const Comparison::Change& change, int column) {
  const QVariant plain = numberOf(change, column);
  const double value = plain.toDouble();
  switch (column) {
    case ChangesModel::kName: return plain.toString();
    case ChangesModel::kA:
    case ChangesModel::kB:
      return value == 0 ? QStringLiteral("-") : QString::fromStdString(showDuration(value));
    case ChangesModel::kDelta: return withSign(value, showDuration(std::fabs(value)));
    case ChangesModel::kShare:
      if (change.a_ns <= 0) return change.b_ns > 0 ? ChangesModel::tr("new") : QString();
      if (change.b_ns <= 0) return ChangesModel::tr("gone");
      return withSign(value, showShare(std::fabs(value)));
    default: return QString::fromStdString(showCount(plain.toLongLong()));
  }
}

}  // namespace

void ChangesModel::setChanges(const QString& what, std::vector<Comparison::Change> changes) {
  beginResetModel();
  what_ = what;
  rows_ = std::move(changes);
  std::erase_if(rows_, [](const Comparison::Change& c) { return c.a_ns == 0 && c.b_ns == 0; });
  endResetModel();
}

int ChangesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ChangesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant ChangesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Comparison::Change& row = change(index.row());
  if (role == Qt::UserRole || (role == Qt::ToolTipRole && index.column() == kName))
    return numberOf(row, index.column());
  if (role == Qt::DisplayRole) return shown(row, index.column());
  if (role == Qt::TextAlignmentRole)
    return QVariant(index.column() == kName ? Qt::AlignLeft | Qt::AlignVCenter
                                            : Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

QVariant ChangesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::InitialSortOrderRole) return section == kName ? Qt::AscendingOrder : Qt::DescendingOrder;
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= kColumns)
    return {};
  static const char* const kTitles[] = {"",
                                        QT_TR_NOOP("A"),
                                        QT_TR_NOOP("B"),
                                        QT_TR_NOOP("Change"),
                                        QT_TR_NOOP("Change, share"),
                                        QT_TR_NOOP("Count in A"),
                                        QT_TR_NOOP("Count in B")};
  return section == kName ? what_ : tr(kTitles[section]);
}

void ChangesModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged();
  const auto less = [column](const Comparison::Change& a, const Comparison::Change& b) {
    const QVariant x = numberOf(a, column), y = numberOf(b, column);
    if (column == kName) return x.toString() < y.toString();
    // By size: what changed most, either way, is together.
    if (column == kDelta || column == kShare) return std::fabs(x.toDouble()) < std::fabs(y.toDouble());
    return x.toDouble() < y.toDouble();
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Comparison::Change& a, const Comparison::Change& b) {
    return order == Qt::AscendingOrder ? less(a, b) : less(b, a);
  });
  emit layoutChanged();
}

void SettingChangesModel::setChanges(std::vector<Comparison::SettingChange> changes) {
  beginResetModel();
  rows_ = std::move(changes);
  endResetModel();
}

int SettingChangesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SettingChangesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : 3; }

QVariant SettingChangesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::UserRole && role != Qt::ToolTipRole))
    return {};
  const Comparison::SettingChange& row = rows_[static_cast<std::size_t>(index.row())];
  const std::string& value = index.column() == 0 ? row.name : index.column() == 1 ? row.a : row.b;
  if (value.empty() && role != Qt::UserRole) return tr("not set");
  return QString::fromStdString(value);
}

QVariant SettingChangesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section > 2) return {};
  return section == 0 ? tr("Setting") : section == 1 ? tr("A") : tr("B");
}

QString csvCell(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return QLatin1Char('"') + text.replace("\"", "\"\"") + QLatin1Char('"');
}

QString tableText(const QAbstractItemModel& model, QChar separator) {
  const auto cell = [separator](QString text) {
    if (separator == QLatin1Char(',')) return csvCell(std::move(text));
    return text.replace(separator, QLatin1Char(' ')).replace('\n', ' ');
  };
  QString text;
  for (int row = -1; row < model.rowCount(); ++row) {
    for (int column = 0; column < model.columnCount(); ++column) {
      if (column > 0) text += separator;
      text += cell((row < 0 ? model.headerData(column, Qt::Horizontal, Qt::DisplayRole)
                            : model.index(row, column).data(Qt::UserRole))
                       .toString());
    }
    text += QLatin1Char('\n');
  }
  return text;
}

}  // namespace pitwall::gui
