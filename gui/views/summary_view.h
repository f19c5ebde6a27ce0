// Summary of a trace: what ran where, where the time goes, the operators that take most of it.
#pragma once

#include <QTextBrowser>

#include "gui/models/findings_model.h"

namespace pitwall::gui {

class SummaryView final : public QTextBrowser {
  Q_OBJECT
 public:
  explicit SummaryView(QWidget* parent = nullptr);
  void setReport(ReportPtr report);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  ReportPtr report_;
};

}  // namespace pitwall::gui
