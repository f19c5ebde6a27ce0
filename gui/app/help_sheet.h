// All actions with their keys, by menu, and the mouse; generated from the registry, so that it is complete.
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QTextBrowser>

namespace pitwall::gui {

class ActionRegistry;

class HelpSheet final : public QDialog {
  Q_OBJECT
 public:
  // The registry outlives the sheet.
  HelpSheet(const ActionRegistry& actions, QWidget* parent);
  QString text() const { return page_->toPlainText(); }
  void setFilter(const QString& words) { filter_->setText(words); }

 private:
  void fill();

  const ActionRegistry& actions_;
  QLineEdit* filter_;
  QTextBrowser* page_;
};

}  // namespace pitwall::gui
