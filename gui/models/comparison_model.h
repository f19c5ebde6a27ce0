// What changed between two traces, as tables: operators or parts of an iteration with their times, and
// settings that differ.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "analyzer/compare.h"

namespace pitwall::gui {

class ChangesModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kName, kA, kB, kDelta, kShare, kACount, kBCount, kColumns };

  explicit ChangesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  // `what` titles the first column: "Operator or kernel".
  void setChanges(const QString& what, std::vector<Comparison::Change> changes);
  const Comparison::Change& change(int row) const { return rows_[static_cast<std::size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  // Qt::UserRole: the number or text, ns for times.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QString what_;
  std::vector<Comparison::Change> rows_;
};

class SettingChangesModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit SettingChangesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setChanges(std::vector<Comparison::SettingChange> changes);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Comparison::SettingChange> rows_;
};

// Text as a cell of CSV, quoted where it must be.
QString csvCell(QString text);

// The rows as lines of text, cells divided by `separator`; with a comma, quoted as CSV wants it. Numbers are
// plain ones.
QString tableText(const QAbstractItemModel& model, QChar separator);

}  // namespace pitwall::gui
