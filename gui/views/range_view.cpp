#include "gui/views/range_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/units_text.h"

namespace pitwall::gui {

RangeView::RangeView(QWidget* parent)
    : QWidget(parent),
      model_(new AggregateModel(this)),
      table_(new DataTable),
      grouping_(new QComboBox),
      copy_(new QPushButton(tr("&Copy"))),
      title_(new QLabel),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Events of the selected range"));
  table_->horizontalHeader()->setSortIndicator(AggregateModel::kTotal, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  table_->setNamesColumn(AggregateModel::kName);
  grouping_->addItems(
      {tr("by name"), tr("by category"), tr("by layer"), tr("by thread"), tr("by stream"), tr("by phase")});
  grouping_->setAccessibleName(tr("Grouping of the range"));
  copy_->setToolTip(tr("Selected rows, or all, as text with tabs (Ctrl+C)"));
  title_->setWordWrap(true);
  auto* top = new QHBoxLayout;
  top->addWidget(title_, 1);
  top->addWidget(grouping_);
  top->addWidget(copy_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addLayout(top);
  layout->addWidget(table_);
  setFocusProxy(table_);
  connect(table_, &DataTable::rowActivated, this, [this](int row) {
    if (grouping() == RangeGrouping::name) emit nameActivated(model_->row(row).name);
  });
  connect(table_, &DataTable::remarked, this, &RangeView::remarked);
  connect(grouping_, &QComboBox::currentIndexChanged, this, &RangeView::askAgain);
  connect(copy_, &QPushButton::clicked, table_, &DataTable::copy);
  clear();
}

RangeView::~RangeView() { cancel_->store(true); }

void RangeView::clear() {
  background_.cancel();
  cancel_->store(true);
  timeline_.reset();
  model_->clear();
  copy_->setEnabled(false);
  title_->setText(
      tr("Drag over the timeline to select a time range, or press R for that of the selected event."));
}

void RangeView::ask(std::shared_ptr<const Timeline> timeline, std::vector<std::size_t> tracks, TimeNs from,
                    TimeNs to) {
  timeline_ = std::move(timeline);
  tracks_ = std::move(tracks);
  from_ = from;
  to_ = to;
  askAgain();
}

void RangeView::askAgain() {
  if (!timeline_) return;
  background_.cancel();
  cancel_->store(true);
  const RangeGrouping by = grouping();
  if (by != RangeGrouping::name && by != RangeGrouping::thread && by != RangeGrouping::stream)
    return askTrace();
  background_.ask(
      [timeline = timeline_, tracks = tracks_, from = from_, to = to_, by](const std::atomic<bool>& cancel) {
        if (by != RangeGrouping::name) {
          const TrackKind kind = by == RangeGrouping::thread ? TrackKind::thread : TrackKind::stream;
          return groupTracks(*timeline, tracks, kind, from, to, cancel);
        }
        return GroupedRows{{}, aggregate(*timeline, tracks, from, to, &cancel), {}};
      },
      [this](GroupedRows answer) { show(std::move(answer)); });
}

void RangeView::askTrace() {
  if (session_ == nullptr) return title_->setText(tr("No trace is open."));
  title_->setText(tr("Reading the trace ..."));
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  session_->ask([self = QPointer<RangeView>(this), timeline = timeline_, tracks = tracks_, from = from_,
                 to = to_, by = grouping(), cancel = cancel_](Trace& trace) {
    if (cancel->load()) return;
    auto answer = std::make_shared<GroupedRows>(groupEvents(trace, *timeline, tracks, by, from, to, *cancel));
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, answer, cancel] {
          if (self && !cancel->load()) self->show(std::move(*answer));
        },
        Qt::QueuedConnection);
  });
}

void RangeView::show(GroupedRows answer) {
  const auto groups = answer.rows.size();
  const QString error = QString::fromStdString(answer.error);
  if (grouping() == RangeGrouping::name) {
    model_->setRows(timeline_, std::move(answer.rows));
  } else {
    static const char* const kWhat[] = {QT_TR_NOOP("Name"),   QT_TR_NOOP("Category"), QT_TR_NOOP("Layer"),
                                        QT_TR_NOOP("Thread"), QT_TR_NOOP("Stream"),   QT_TR_NOOP("Phase")};
    auto labels = std::make_shared<const std::vector<std::string>>(std::move(answer.labels));
    model_->setRows(std::move(labels), std::move(answer.rows), tr(kWhat[grouping_->currentIndex()]));
  }
  const QHeaderView* header = table_->horizontalHeader();
  model_->sort(header->sortIndicatorSection(), header->sortIndicatorOrder());
  table_->fitColumns();
  copy_->setEnabled(groups > 0);
  const QString span = QString::fromStdString(showDuration(static_cast<double>(to_ - from_)));
  if (!error.isEmpty()) {
    title_->setText(tr("Error: %1").arg(error));
  } else if (groups == 0) {
    title_->setText(tr("%1 selected; no event of the rows shown is in it.").arg(span));
  } else {
    title_->setText(
        tr("%1 selected, %2 rows. Total counts the parts within the range; nested events count each.")
            .arg(span)
            .arg(groups));
  }
  emit answered();
}

}  // namespace pitwall::gui
