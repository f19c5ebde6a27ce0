#include "gui/models/runs_model.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>

#include "analyzer/analysis.h"
#include "analyzer/units_text.h"
#include "db/import.h"
#include "db/try.h"

namespace pitwall::gui {
namespace {

Result<Measured> measureTrace(const std::string& path, const std::atomic<bool>& cancel) {
  QTemporaryDir folder;
  auto trace = Trace::open(path);
  if (!trace.has_value() && trace.error().code == ErrorCode::corruptTrace) {
    const std::string inputs[] = {path};
    const std::string made = folder.filePath("imported.pitwall").toStdString();
    ImportOptions options;
    options.cancel = &cancel;
    if (const auto summary = importToFile(inputs, made, options); summary.has_value())
      trace = Trace::open(made);
  }
  if (!trace.has_value()) return fail(trace.error());
  AnalyzeOptions options;
  options.cancel = &cancel;
  const Report report = PITWALL_TRY(analyzeTrace(**trace, options));
  return measure(**trace, report);
}

}  // namespace

double Run::medianNs() const {
  if (measured.iterations_ns.empty()) return measured.whole_ns;
  std::vector<double> times = measured.iterations_ns;
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
}

double Run::rate() const {
  const double ns = medianNs();
  if (ns <= 0 || measured.iterations_ns.empty()) return 0;
  return std::max(1.0, measured.items_per_iteration) * 1e9 / ns;
}

std::size_t Run::devices() const {
  const auto gpus = static_cast<std::size_t>(std::ranges::count_if(
      measured.devices, [](const std::string& device) { return device.starts_with("gpu"); }));
  const std::size_t all = gpus > 0 ? gpus : measured.devices.size();
  return std::max<std::size_t>({1, all, static_cast<std::size_t>(std::max(1, measured.world_size))});
}

Run measureRun(const QString& path, const std::atomic<bool>& cancel) {
  Run run{path, {}, {}};
  auto measured = measureTrace(path.toStdString(), cancel);
  if (measured.has_value()) run.measured = std::move(*measured);
  if (!measured.has_value()) run.error = QString::fromStdString(measured.error().message);
  return run;
}

void RunsModel::setRuns(std::vector<Run> runs) {
  beginResetModel();
  runs_ = std::move(runs);
  endResetModel();
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant RunsModel::value(const Run& run, int column) const {
  if (column == kPath) return run.path;
  if (!run.error.isEmpty()) return {};
  const Run& first = runs_.front();
  const bool relative = first.error.isEmpty() && first.rate() > 0 && run.rate() > 0;
  const double speed = relative ? run.rate() / first.rate() : 0;
  switch (column) {
    case kIterations: return static_cast<qlonglong>(run.measured.iterations_ns.size());
    case kMedian: return run.medianNs() > 0 ? run.medianNs() : QVariant();
    case kRate: return run.rate() > 0 ? run.rate() : QVariant();
    case kSpeed: return relative ? speed : QVariant();
    case kDevices: return static_cast<qlonglong>(run.devices());
    case kEfficiency:
      return relative ? speed * static_cast<double>(first.devices()) / static_cast<double>(run.devices())
                      : QVariant();
    default: return {};
  }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Run& of = run(index.row());
  const QVariant plain = value(of, index.column());
  if (role == Qt::UserRole) return plain;
  if (role == Qt::ToolTipRole && index.column() == kPath)
    return of.error.isEmpty() ? of.path : of.path + "\n" + of.error;
  if (role == Qt::TextAlignmentRole)
    return QVariant(index.column() == kPath ? Qt::AlignLeft | Qt::AlignVCenter
                                            : Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  if (index.column() == kPath)
    return of.error.isEmpty() ? QFileInfo(of.path).fileName()
                              : tr("%1: %2").arg(QFileInfo(of.path).fileName(), of.error);
  if (!plain.isValid()) return QStringLiteral("-");
  switch (index.column()) {
    case kMedian: return QString::fromStdString(showDuration(plain.toDouble()));
    case kRate: {
      const QString rate = QString::fromStdString(showRate(plain.toDouble()));
      return of.measured.items_per_iteration > 0 ? tr("%1 items/s").arg(rate)
                                                 : tr("%1 iterations/s").arg(rate);
    }
    case kSpeed: return QString::fromUtf8("\u00d7 ") + QString::fromStdString(showReal(plain.toDouble()));
    case kEfficiency: return QString::fromStdString(showShare(plain.toDouble()));
    default: return QString::fromStdString(showCount(plain.toLongLong()));
  }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= kColumns)
    return {};
  static const char* const kTitles[] = {QT_TR_NOOP("Run"),
                                        QT_TR_NOOP("Steady iterations"),
                                        QT_TR_NOOP("Median"),
                                        QT_TR_NOOP("Rate"),
                                        QT_TR_NOOP("Speed, relative to the first"),
                                        QT_TR_NOOP("Devices or ranks"),
                                        QT_TR_NOOP("Efficiency a device")};
  return tr(kTitles[section]);
}

}  // namespace pitwall::gui
