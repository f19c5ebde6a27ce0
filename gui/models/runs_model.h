// Several runs of a program, such as with 1, 2 and 4 devices: how fast each was, beside the first.
#pragma once

#include <QAbstractTableModel>
#include <atomic>
#include <vector>

#include "analyzer/compare.h"

namespace pitwall::gui {

struct Run {
  QString path;
  QString error;  // empty: measured
  Measured measured;

  double medianNs() const;      // of an iteration, else of the recording; 0 = unknown
  double rate() const;          // items, else iterations a second; 0 = unknown
  std::size_t devices() const;  // over all ranks, at least 1
};

// Opens a trace, of another tool through an import into a temporary folder, analyses and measures it.
Run measureRun(const QString& path, const std::atomic<bool>& cancel);

class RunsModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  // kSpeed: rate over that of the first run. kEfficiency: the speed by device, relative to the first run.
  enum Column { kPath, kIterations, kMedian, kRate, kSpeed, kDevices, kEfficiency, kColumns };

  explicit RunsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setRuns(std::vector<Run> runs);
  const Run& run(int row) const { return runs_[static_cast<std::size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  // Qt::UserRole: the number or text, ns for times.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QVariant value(const Run& run, int column) const;

  std::vector<Run> runs_;
};

}  // namespace pitwall::gui
