#include "gui/views/wrapped_table.h"

#include <QHeaderView>
#include <QRegularExpression>
#include <QStyledItemDelegate>
#include <algorithm>
#include <vector>

namespace pitwall::gui {
namespace {

constexpr QChar kMayBreak(0x200b);  // no width: a line may end here

// MXNET_ENGINE_TYPE, ThreadedEnginePerDevice and 1,2,3,4 in pieces.
QString breakable(QString text) {
  static const QRegularExpression after("([_,;:/=])(?=[^\\s])"), between("([a-z0-9])([A-Z])");
  text.replace(after, QStringLiteral("\\1") + kMayBreak);
  return text.replace(between, QStringLiteral("\\1") + kMayBreak + QStringLiteral("\\2"));
}

class BreakingDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  QString displayText(const QVariant& value, const QLocale& locale) const override {
    return breakable(QStyledItemDelegate::displayText(value, locale));
  }
};

// Widths of a column: all on one line, and the longest piece that cannot be broken.
struct Need {
  int most = 0, least = 0;
};

Need needOf(const QTableView& table, int column) {
  const QAbstractItemModel& model = *table.model();
  const QFontMetrics metrics = table.fontMetrics();
  const int margins = 2 * metrics.averageCharWidth() + 4;
  const int header = table.horizontalHeader()->sectionSizeHint(column);
  Need need{header, header};
  static const QRegularExpression ends(QString("[\\s%1]").arg(kMayBreak));
  for (int row = 0; row < model.rowCount(); ++row) {
    const QModelIndex index = model.index(row, column);
    const QString text = index.data().toString();
    const int sign = index.data(Qt::CheckStateRole).isValid() ? 2 * metrics.height() : 0;
    need.most = std::max(need.most, metrics.horizontalAdvance(text) + margins + sign);
    for (const QString& piece : breakable(text).split(ends))
      need.least = std::max(need.least, metrics.horizontalAdvance(piece) + margins + sign);
  }
  return need;
}

}  // namespace

WrappedTable::WrappedTable(QWidget* parent) : QTableView(parent) {
  setItemDelegate(new BreakingDelegate(this));
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setWordWrap(true);
  setTabKeyNavigation(false);
  setTextElideMode(Qt::ElideNone);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->hide();  // not measured before it is shown
}

void WrappedTable::setModel(QAbstractItemModel* model) {
  QTableView::setModel(model);
  connect(model, &QAbstractItemModel::modelReset, this, &WrappedTable::fit);
  fit();
}

void WrappedTable::showEvent(QShowEvent* event) {
  horizontalHeader()->show();
  QTableView::showEvent(event);
}

void WrappedTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit();
}

// The width beyond the minimum is distributed by need; the last column takes the rest.
void WrappedTable::fit() {
  if (model() == nullptr) return;
  const int columns = model()->columnCount();
  std::vector<Need> needs;
  int least = 0, wanted = 0;
  for (int column = 0; column < columns; ++column) {
    needs.push_back(needOf(*this, column));
    least += needs.back().least;
    wanted += needs.back().most - needs.back().least;
  }
  const int room = viewport()->width();
  const double share = wanted == 0 ? 0 : std::clamp(double(room - least) / wanted, 0.0, 1.0);
  int used = 0;
  for (int column = 0; column < columns; ++column) {
    const Need& need = needs[static_cast<std::size_t>(column)];
    int width = need.least + static_cast<int>((need.most - need.least) * share);
    if (column + 1 == columns) width = std::max(width, room - used);
    setColumnWidth(column, width);
    used += width;
  }
  resizeRowsToContents();
}

}  // namespace pitwall::gui
