#include "gui/models/findings_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analyzer/emit.h"
#include "analyzer/units_text.h"

namespace pitwall::gui {

QString gainText(double low, double high) {
  if (high <= 0) return FindingsModel::tr("no predicted gain");
  const auto speed = [](double share) { return 1 / (1 - std::min(share, 0.999)); };
  return QString::fromStdString(fmt::format("{} to {} of the time ({:.2f}x to {:.2f}x the speed)",
                                            showShare(low), showShare(high), speed(low), speed(high)));
}

void FindingsModel::setReport(ReportPtr report) {
  beginResetModel();
  report_ = std::move(report);
  endResetModel();
}

const Finding* FindingsModel::finding(const QModelIndex& index) const {
  return index.isValid() && report_ ? &report_->findings[static_cast<std::size_t>(index.row())] : nullptr;
}

int FindingsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !report_ ? 0 : static_cast<int>(report_->findings.size());
}

QVariant FindingsModel::data(const QModelIndex& index, int role) const {
  const Finding* shown = finding(index);
  if (shown == nullptr) return {};
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(
          fmt::format("{}. {}: {}", index.row() + 1, toString(shown->severity), shown->title));
    case Qt::ToolTipRole:
    case kVerdict: return QString::fromStdString(shown->verdict);
    case kSeverity: return static_cast<int>(shown->severity);
    case kGain: return gainText(shown->gain_low, shown->gain_high);
    default: return {};
  }
}

void ProposalsModel::setReport(ReportPtr report) {
  beginResetModel();
  report_ = std::move(report);
  lines_.clear();
  if (report_) {
    for (std::size_t f = 0; f < report_->findings.size(); ++f) {
      const auto& proposals = report_->findings[f].proposals;
      for (std::size_t p = 0; p < proposals.size(); ++p) lines_.push_back({f, p, !proposals[p].user_set});
    }
  }
  endResetModel();
  emit checkedChanged();
}

const Proposal& ProposalsModel::proposal(const Line& line) const {
  return report_->findings[line.finding].proposals[line.proposal];
}

Report ProposalsModel::checkedReport() const {
  Report report;
  if (!report_) return report;
  report = *report_;
  for (Finding& finding : report.findings) finding.proposals.clear();
  for (const Line& line : lines_) {
    if (!line.checked) continue;
    Proposal chosen = proposal(line);
    chosen.user_set = false;  // checked by hand: no longer only shown
    report.findings[line.finding].proposals.push_back(std::move(chosen));
  }
  return report;
}

double ProposalsModel::combined(double Finding::*gain) const {
  std::set<std::size_t> findings;
  for (const Line& line : lines_) {
    if (line.checked) findings.insert(line.finding);
  }
  double sum = 0;
  for (const std::size_t f : findings) sum += report_->findings[f].*gain;
  return std::min(sum, 1.0);
}

double ProposalsModel::combinedLow() const { return combined(&Finding::gain_low); }
double ProposalsModel::combinedHigh() const { return combined(&Finding::gain_high); }

QString ProposalsModel::exportLine(const QModelIndex& index) const {
  const Line& line = lines_[static_cast<std::size_t>(index.row())];
  Report one;
  one.findings.push_back(report_->findings[line.finding]);
  one.findings[0].proposals = {proposal(line)};
  one.findings[0].proposals[0].user_set = false;  // asked for by hand
  // As a file for the shell has it, quotes and all.
  const QString text = QString::fromStdString(reportAsEnvironment(one)).trimmed();
  return text.section('\n', -1);
}

int ProposalsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int ProposalsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant ProposalsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Line& line = lines_[static_cast<std::size_t>(index.row())];
  const Proposal& shown = proposal(line);
  const Finding& finding = report_->findings[line.finding];
  if (role == Qt::CheckStateRole && index.column() == kSetting)
    return line.checked ? Qt::Checked : Qt::Unchecked;
  if (role == Qt::ToolTipRole) {
    return QString::fromStdString(shown.reason + (shown.user_set ? "\nYou set it yourself." : "") +
                                  "\nWrong if " + finding.guard);
  }
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case kSetting: return QString::fromStdString(shown.name);
    case kNow: return shown.current.empty() ? tr("not set") : QString::fromStdString(shown.current);
    case kProposed: return QString::fromStdString(shown.proposed);
    // Of the time; the finding's text gives the speed.
    case kGainColumn:
      return finding.gain_high <= 0 ? tr("none")
                                    : QString::fromStdString(showShare(finding.gain_low) + " to " +
                                                             showShare(finding.gain_high));
    case kStatus: return QString::fromLatin1(toString(finding.status));
    default: return {};
  }
}

QVariant ProposalsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kSetting: return tr("Setting");
    case kNow: return tr("Now");
    case kProposed: return tr("Proposed");
    case kGainColumn: return tr("Gain");
    case kStatus: return tr("Status");
    default: return {};
  }
}

bool ProposalsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::CheckStateRole || index.column() != kSetting) return false;
  lines_[static_cast<std::size_t>(index.row())].checked = value.toInt() == Qt::Checked;
  emit dataChanged(index, index, {Qt::CheckStateRole});
  emit checkedChanged();
  return true;
}

Qt::ItemFlags ProposalsModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  return index.isValid() && index.column() == kSetting ? flags | Qt::ItemIsUserCheckable : flags;
}

}  // namespace pitwall::gui
