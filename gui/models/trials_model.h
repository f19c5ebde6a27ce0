// What `pitwall tune` measured, as a table: settings with their predicted and measured gains.
#pragma once

#include <QAbstractTableModel>
#include <optional>
#include <vector>

#include "db/result.h"

namespace pitwall::gui {

// Times as fast as the program without the settings.
struct GainInterval {
  double low = 1, middle = 1, high = 1;
};

struct Trial {
  QString settings, rule, method, beside, conclusion, why;
  std::optional<GainInterval> predicted, measured;
  int pairs = 0;
  int screened_runs = 0;         // where there are no pairs
  double before = 0, after = 0;  // the metric
  bool is_kept = false;
};

struct Trials {
  QString path, metric, best, ended;
  QString first_trace, best_trace, best_env;  // empty: none
  std::vector<Trial> rows;
  QStringList notes;
  int runs = 0;
  double seconds = 0;
};

// The result of a search in the folder, where that is one that `pitwall tune` has written; else empty.
QString trialsIn(const QString& folder);
// Reads it, with the traces beside it. Errors: io; invalidInput for anything but the result of a search.
Result<Trials> readTrials(const QString& file);

class TrialsModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  // kGain is drawn: the predicted and the measured interval on an axis that all rows share.
  enum Column {
    kSettings,
    kRule,
    kPredicted,
    kMeasured,
    kGain,
    kPairs,
    kBefore,
    kAfter,
    kConclusion,
    kColumns
  };
  static constexpr int kTrialRole = Qt::UserRole + 1;  // the row's index in Trials::rows

  explicit TrialsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setTrials(Trials trials);
  const Trials& trials() const { return trials_; }
  // Of all intervals; 1 is within.
  double leastGain() const { return least_; }
  double greatestGain() const { return greatest_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  // Qt::UserRole: the number or text.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QVariant plainOf(const Trial& trial, int column) const;

  Trials trials_;
  double least_ = 1, greatest_ = 1;
};

}  // namespace pitwall::gui
