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
  // Fits the width of columns to the content of some rows; the column of names takes the room that is left.
  // Call fitColumns() when the rows are others.
  void setNamesColumn(int column, int least_characters = 12);
  void fitColumns();

 public slots:
  void copy();

 signals:
  void rowActivated(int row);  // double click or Enter
  void leaveWanted();          // Backspace
  void remarked(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void fitRows();

  int names_ = -1;
  int least_characters_ = 0;
};

}  // namespace pitwall::gui
