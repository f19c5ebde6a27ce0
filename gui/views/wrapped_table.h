// A table of few rows whose columns always fit its width: cells use the lines they need, and names break
// after an underscore and between their words.
#pragma once

#include <QTableView>

namespace pitwall::gui {

class WrappedTable final : public QTableView {
  Q_OBJECT
 public:
  explicit WrappedTable(QWidget* parent = nullptr);

  void setModel(QAbstractItemModel* model) override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void fit();
};

}  // namespace pitwall::gui
