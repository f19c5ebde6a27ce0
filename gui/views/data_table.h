// A table for many rows: rows of one height, sorted by a click, copied as text with tabs.
#pragma once

#include <QTableView>

namespace pitwall::gui {

class DataTable final : public QTableView {
  Q_OBJECT
 public:
  explicit DataTable(QWidget* parent = nullptr);

  // Header and the selected rows, all when none is selected, at most kMostCopied; plain values (UserRole).
  QString asText() const;
  static constexpr int kMostCopied = 200'000;
  // From now on columns are as wide as what they hold, looking at some rows, and that of the names gives way
  // where there is no room. Call fitColumns() when the rows are others.
  void setNamesColumn(int column);
  void fitColumns();

 public slots:
  void copy();

 signals:
  void rowActivated(int row);  // double click or Enter
  void remarked(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitRows();

  int names_ = -1;
};

}  // namespace pitwall::gui
