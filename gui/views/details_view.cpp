#include "gui/views/details_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>

namespace pitwall::gui {

DetailsView::DetailsView(QWidget* parent) : QTreeWidget(parent) {
  setColumnCount(2);
  setHeaderLabels({tr("Fact"), tr("Value")});
  setRootIsDecorated(false);
  setAlternatingRowColors(true);
  setAccessibleName(tr("Details of the selected event"));
}

void DetailsView::setDetails(const Details& details) {
  clear();
  for (const auto& [name, value] : details) {
    auto* item = new QTreeWidgetItem(this, {name, value});
    item->setToolTip(1, value);
  }
  resizeColumnToContents(0);
}

void DetailsView::copyAll() const {
  QString text;
  for (int i = 0; i < topLevelItemCount(); ++i)
    text += topLevelItem(i)->text(0) + QLatin1Char('\t') + topLevelItem(i)->text(1) + QLatin1Char('\n');
  QApplication::clipboard()->setText(text);
}

}  // namespace pitwall::gui
