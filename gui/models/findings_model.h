// The findings of an analysis, in its order, for a list; and the settings they propose, each with a check
// box.
#pragma once

#include <QAbstractListModel>
#include <QAbstractTableModel>
#include <memory>

#include "analyzer/report.h"

namespace pitwall::gui {

using ReportPtr = std::shared_ptr<const Report>;

class FindingsModel final : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role { kVerdict = Qt::UserRole, kSeverity, kGain };

  using QAbstractListModel::QAbstractListModel;
  void setReport(ReportPtr report);
  const Finding* finding(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  ReportPtr report_;
};

// "0 % to 12 % of the time (1.00x to 1.14x the speed)".
QString gainText(double low, double high);

class ProposalsModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kSetting, kNow, kProposed, kGainColumn, kStatus, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setReport(ReportPtr report);  // settings that the user has set are not checked, all others are

  // The report with only the checked settings: the content of the environment file.
  Report checkedReport() const;
  // Of the findings with a checked setting: their shares of removable time, which never overlap, add up.
  double combinedLow() const;
  double combinedHigh() const;
  // "export NAME=VALUE"
  QString exportLine(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 signals:
  void checkedChanged();

 private:
  struct Line {
    std::size_t finding, proposal;
    bool checked;
  };
  const Proposal& proposal(const Line& line) const;
  double combined(double Finding::*gain) const;

  ReportPtr report_;
  std::vector<Line> lines_;
};

}  // namespace pitwall::gui
