#include "gui/models/trials_model.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QFont>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace pitwall::gui {
namespace {

constexpr char kResult[] = "result.json", kHistory[] = "runs.tsv";

// "1.24x", with its interval where that is known.
QString timesText(const GainInterval& gain, bool has_middle) {
  const auto number = [](double value) { return QString::number(value, 'f', 2); };
  const QString interval = number(gain.low) + " to " + number(gain.high);
  if (!has_middle) return interval;
  return gain.low < gain.high ? number(gain.middle) + " (" + interval + ")" : number(gain.middle);
}

// Traces and settings are in the folder of the result, which may have been moved since.
QString beside(const QString& result, const QString& file) {
  if (file.isEmpty()) return {};
  const QString here = QFileInfo(result).absoluteDir().filePath(QFileInfo(file).fileName());
  return QFileInfo::exists(here) ? here : QString();
}

Trial trialOf(const QJsonObject& row) {
  Trial trial;
  trial.settings = row["settings"].toString();
  trial.rule = row["rule"].toString();
  trial.method = row["method"].toString();
  trial.beside = row["beside"].toString();
  trial.conclusion = row["conclusion"].toString();
  trial.why = row["why"].toString();
  if (row["predicted_high"].isDouble()) {
    const double low = row["predicted_low"].toDouble(), high = row["predicted_high"].toDouble();
    trial.predicted = GainInterval{low, (low + high) / 2, high};
  }
  if (row["ratio"].isDouble()) {
    const double ratio = row["ratio"].toDouble();
    trial.measured = GainInterval{row["low"].toDouble(ratio), ratio, row["high"].toDouble(ratio)};
  }
  trial.pairs = row["pairs"].toInt();
  trial.screened_runs = row["screened_runs"].toInt();
  trial.before = row["before"].toDouble();
  trial.after = row["after"].toDouble();
  trial.is_kept = row["kept"].toBool();
  return trial;
}

}  // namespace

// Other programs have a result.json too.
QString trialsIn(const QString& folder) {
  const QDir dir(folder);
  return dir.exists(kResult) && dir.exists(kHistory) ? dir.filePath(kResult) : QString();
}

Result<Trials> readTrials(const QString& file) {
  QFile input(file);
  if (!input.open(QIODevice::ReadOnly))
    return fail(ErrorCode::io, (file + ": " + input.errorString()).toStdString());
  const QJsonObject object = QJsonDocument::fromJson(input.readAll()).object();
  if (!object["rows"].isArray() || !object["metric"].isString() || !object["best_command"].isArray())
    return fail(ErrorCode::invalidInput, (file + ": this is not a result of 'pitwall tune'").toStdString());
  Trials trials;
  trials.path = file;
  trials.metric = object["metric"].toString();
  trials.best = object["best"].toString();
  trials.ended = object["ended"].toString();
  trials.first_trace = beside(file, object["first_trace"].toString());
  trials.best_trace = beside(file, object["best_trace"].toString());
  trials.best_env = beside(file, object["best_env"].toString());
  for (const auto& row : object["rows"].toArray()) trials.rows.push_back(trialOf(row.toObject()));
  for (const auto& note : object["notes"].toArray()) trials.notes += note.toString();
  trials.runs = object["runs"].toInt();
  trials.seconds = object["seconds"].toDouble();
  return trials;
}

void TrialsModel::setTrials(Trials trials) {
  beginResetModel();
  trials_ = std::move(trials);
  least_ = greatest_ = 1;
  for (const Trial& trial : trials_.rows) {
    for (const auto& gain : {trial.predicted, trial.measured}) {
      if (!gain) continue;
      least_ = std::min(least_, gain->low);
      greatest_ = std::max(greatest_, gain->high);
    }
  }
  endResetModel();
}

int TrialsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(trials_.rows.size());
}

int TrialsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant TrialsModel::plainOf(const Trial& trial, int column) const {
  switch (column) {
    case kSettings: return trial.settings;
    case kRule: return trial.rule;
    case kPredicted: return trial.predicted ? QVariant(trial.predicted->middle) : QVariant();
    case kMeasured:
    case kGain: return trial.measured ? QVariant(trial.measured->middle) : QVariant();
    case kPairs: return trial.pairs > 0 ? trial.pairs : QVariant();
    case kBefore: return trial.measured ? QVariant(trial.before) : QVariant();
    case kAfter: return trial.measured ? QVariant(trial.after) : QVariant();
    default: return trial.conclusion;
  }
}

QVariant TrialsModel::data(const QModelIndex& index, int role) const {
  const Trial& trial = trials_.rows[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const QVariant plain = plainOf(trial, column);
  const bool is_text = column == kSettings || column == kRule || column == kConclusion;
  if (role == Qt::UserRole) return plain;
  if (role == kTrialRole) return index.row();
  if (role == Qt::TextAlignmentRole && !is_text) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::FontRole && trial.is_kept) {
    QFont bold;
    bold.setBold(true);
    return bold;
  }
  if (role == Qt::ToolTipRole) {
    if (column == kConclusion) return trial.why;
    if (column == kPredicted) return trial.method;
    if (column == kMeasured && !trial.beside.isEmpty())
      return tr("Added to %1, and compared with it").arg(trial.beside);
    if (column == kMeasured && trial.pairs == 0 && trial.screened_runs > 0)
      return tr("From %n single runs, not from pairs", nullptr, trial.screened_runs);
    return is_text ? plain : QVariant();
  }
  if (role != Qt::DisplayRole || column == kGain) return {};
  if (column == kPredicted) return trial.predicted ? timesText(*trial.predicted, false) : QString();
  if (column == kMeasured) return trial.measured ? timesText(*trial.measured, true) : QString();
  if (column == kBefore || column == kAfter)
    return plain.isValid() ? QString::number(plain.toDouble(), 'g', 4) : QString();
  return plain;
}

QVariant TrialsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole) {
    switch (section) {
      case kPredicted: return tr("How many times as fast the finding's prediction is");
      case kMeasured: return tr("The median ratio of pairs of runs in random order, with its interval");
      case kGain: return tr("Pale: predicted; dark: measured; the line is the unchanged program");
      default: return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kSettings: return tr("Settings");
    case kRule: return tr("Proposed by");
    case kPredicted: return tr("Predicted");
    case kMeasured: return tr("Measured");
    case kGain: return tr("Gain");
    case kPairs: return tr("Pairs");
    case kBefore: return tr("Before");
    case kAfter: return tr("After");
    default: return tr("Conclusion");
  }
}

}  // namespace pitwall::gui
