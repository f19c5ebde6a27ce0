#include "gui/views/data_table.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>

namespace pitwall::gui {
namespace {

constexpr int kRowsLookedAt = 100;

QString cellText(const QAbstractItemModel& model, const QModelIndex& index) {
  const QVariant plain = model.data(index, Qt::UserRole);
  QString text = (plain.isValid() ? plain : model.data(index)).toString();
  return text.replace('\t', ' ').replace('\n', ' ');
}

}  // namespace

DataTable::DataTable(QWidget* parent) : QTableView(parent) {
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->hide();  // not measured before it is shown
  horizontalHeader()->setStretchLastSection(false);
  fitRows();
  connect(this, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { emit rowActivated(index.row()); });
}

void DataTable::showEvent(QShowEvent* event) {
  if (horizontalHeader()->isHidden()) {
    horizontalHeader()->show();
    fitColumns();
  }
  QTableView::showEvent(event);
}

void DataTable::fitRows() { verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 5); }

void DataTable::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) fitRows();
  QTableView::changeEvent(event);
}

QString DataTable::asText() const {
  if (model() == nullptr) return {};
  std::vector<std::pair<int, int>> stretches;  // rows from, to
  for (const QItemSelectionRange& range : selectionModel()->selection())
    stretches.emplace_back(range.top(), range.bottom());
  if (stretches.empty()) stretches.emplace_back(0, model()->rowCount() - 1);
  std::sort(stretches.begin(), stretches.end());
  const int columns = model()->columnCount();
  QString text;
  for (int column = 0; column < columns; ++column) {
    const QVariant plain = model()->headerData(column, Qt::Horizontal, Qt::UserRole);
    text += (plain.isValid() ? plain : model()->headerData(column, Qt::Horizontal)).toString() +
            (column + 1 < columns ? '\t' : '\n');
  }
  int left = kMostCopied;
  for (const auto& [from, to] : stretches) {
    for (int row = from; row <= to && left > 0; ++row, --left) {
      for (int column = 0; column < columns; ++column)
        text += cellText(*model(), model()->index(row, column)) + (column + 1 < columns ? '\t' : '\n');
    }
  }
  return text;
}

void DataTable::copy() {
  const QString text = asText();
  QApplication::clipboard()->setText(text);
  const auto rows = std::max<qsizetype>(0, text.count('\n') - 1);
  emit remarked(rows >= kMostCopied ? tr("The first %1 rows are copied; an export writes all.").arg(rows)
                                    : tr("%n row(s) copied", nullptr, static_cast<int>(rows)));
}

void DataTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return copy();
  if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
    emit rowActivated(currentIndex().row());
    return;
  }
  if (event->key() == Qt::Key_Backspace) emit leaveWanted();
  QTableView::keyPressEvent(event);
}

void DataTable::setNamesColumn(int column, int least_characters) {
  least_characters_ = least_characters;
  names_ = column;
  fitColumns();
}

void DataTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fitColumns();
}

void DataTable::fitColumns() {
  if (model() == nullptr || names_ < 0 || horizontalHeader()->isHidden()) return;
  const int em = fontMetrics().averageCharWidth();
  horizontalHeader()->setResizeContentsPrecision(kRowsLookedAt);
  resizeColumnsToContents();
  int others = 0;
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (column == names_) continue;
    setColumnWidth(column, std::min(columnWidth(column), 48 * em));
    others += columnWidth(column);
  }
  setColumnWidth(names_, std::max(least_characters_ * em, viewport()->width() - others));
}

}  // namespace pitwall::gui
