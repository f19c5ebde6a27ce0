// Findings with their evidence, and the settings they propose: what to set, what is gained, what would make
// it wrong.
#pragma once

#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QTextBrowser>
#include <QWidget>

#include "analyzer/emit.h"
#include "gui/models/findings_model.h"
#include "gui/views/wrapped_table.h"

namespace pitwall::gui {

class FindingsView final : public QWidget {
  Q_OBJECT
 public:
  explicit FindingsView(QWidget* parent = nullptr);

  void setReport(ReportPtr report);  // null: none yet
  const ReportPtr& report() const { return report_; }
  void setWaiting(const QString& message);
  const ProposalsModel& proposals() const { return *proposals_; }
  const FindingsModel& findings() const { return *findings_; }
  void selectFinding(int row);
  QTextBrowser& text() { return *text_; }
  void saveEnvironmentTo(const QString& path, EnvironmentFormat format);

 public slots:
  void copyExportLine();  // of the selected setting, else of the first checked one
  void saveEnvironment();

 signals:
  // Of a finding that was selected, the first row of evidence that has a place; or a row whose link was clicked.
  void evidenceSelected(const pitwall::EvidencePlace& place);
  void remarked(const QString& text);
  void failed(const QString& what);

 private:
  void showFinding(const QModelIndex& index);
  void showEvidence(const Finding& finding, std::size_t row);
  void showCombined();

  FindingsModel* findings_;
  ProposalsModel* proposals_;
  QListView* list_;
  QTextBrowser* text_;
  WrappedTable* settings_;
  QLabel* combined_;
  QPushButton *copy_, *save_;
  ReportPtr report_;
};

}  // namespace pitwall::gui
