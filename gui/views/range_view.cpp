#include "gui/views/range_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QPointer>
#include <QThreadPool>
#include <QVBoxLayout>

#include "analyzer/units_text.h"

namespace pitwall::gui {

RangeView::RangeView(QWidget* parent)
    : QWidget(parent),
      model_(new AggregateModel(this)),
      table_(new QTableView),
      title_(new QLabel),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Events of the selected range by name"));
  table_->setSortingEnabled(true);
  table_->horizontalHeader()->setSortIndicator(AggregateModel::kTotal, Qt::DescendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
  table_->setTabKeyNavigation(false);
  title_->setWordWrap(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(title_);
  layout->addWidget(table_);
  connect(table_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { emit nameActivated(model_->row(index.row()).name); });
  clear();
}

RangeView::~RangeView() { cancel_->store(true); }

void RangeView::clear() {
  cancel_->store(true);
  model_->clear();
  title_->setText(tr("Drag over the timeline to select a stretch of time."));
}

void RangeView::ask(std::shared_ptr<const Timeline> timeline, std::vector<std::size_t> tracks, TimeNs from,
                    TimeNs to) {
  cancel_->store(true);
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  const QPointer<RangeView> self(this);
  QThreadPool::globalInstance()->start([self, timeline = std::move(timeline), tracks = std::move(tracks),
                                        from, to, cancel = cancel_] {
    auto rows = aggregate(*timeline, tracks, from, to, cancel.get());
    QMetaObject::invokeMethod(
        qApp,
        [self, timeline, rows = std::move(rows), from, to, cancel]() mutable {
          if (!self || cancel->load()) return;
          const auto names = rows.size();
          self->model_->setRows(timeline, std::move(rows));
          self->table_->resizeColumnsToContents();
          self->table_->setColumnWidth(AggregateModel::kName, std::min(320, self->table_->columnWidth(0)));
          self->title_->setText(
              tr("%1 selected, %2 names. Total counts the parts within the range; nested events count "
                 "in each of their names.")
                  .arg(QString::fromStdString(showDuration(static_cast<double>(to - from))))
                  .arg(names));
          emit self->answered();
        },
        Qt::QueuedConnection);
  });
}

void RangeView::copySelected() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  QApplication::clipboard()->setText(model_->asText(rows));
}

}  // namespace pitwall::gui
