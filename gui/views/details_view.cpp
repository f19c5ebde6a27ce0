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
  connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
    const int link = indexOfTopLevelItem(item) - first_link_;
    if (link >= 0 && link < static_cast<int>(links_.size()))
      emit eventWanted(EventRef(links_[static_cast<std::size_t>(link)].event));
  });
}

void DetailsView::setDetails(const Details& details, std::vector<EventLink> links) {
  clear();
  links_ = std::move(links);
  first_link_ = static_cast<int>(details.size());
  for (const auto& [name, value] : details) {
    auto* item = new QTreeWidgetItem(this, {name, value});
    item->setToolTip(1, value);
  }
  bool last_to_be_free = true;
  for (const EventLink& link : links_) {
    const QString name = !link.waited_for                        ? tr("Waited for by")
                         : std::exchange(last_to_be_free, false) ? tr("Waited for, last")
                                                                 : tr("Waited for");
    auto* item = new QTreeWidgetItem(this, {name, link.text});
    item->setToolTip(1, tr("%1\nReturn or a double click shows it.").arg(link.text));
    item->setForeground(1, palette().color(QPalette::Link));
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
