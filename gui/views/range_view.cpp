#include "gui/views/range_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPointer>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/aggregate_groups.h"
#include "gui/views/clear_button.h"
#include "gui/views/wrapped_label.h"

namespace pitwall::gui {
namespace {

std::vector<AggregateRow> sumNames(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                   std::pair<TimeNs, TimeNs> range, RangeGrouping by,
                                   const std::optional<std::uint32_t>& group,
                                   const std::atomic<bool>& cancel) {
  const auto [from, to] = range;
  const auto& group_of = timeline.groups.group_of;
  if (by == RangeGrouping::name) {
    auto rows = aggregateGroups(timeline, tracks, from, to, &cancel);
    addSelfTimes(timeline, tracks, from, to, group_of, rows, &cancel);
    return rows;
  }
  auto rows = aggregate(timeline, tracks, from, to, &cancel);
  if (group)
    std::erase_if(rows, [&](const AggregateRow& row) {
      return row.name < group_of.size() && group_of[row.name] != *group;
    });
  addSelfTimes(timeline, tracks, from, to, {}, rows, &cancel);
  return rows;
}

// Whether the timeline has no column of it.
bool readsTrace(RangeGrouping by) {
  return by == RangeGrouping::category || by == RangeGrouping::layer || by == RangeGrouping::phase;
}

}  // namespace

RangeView::RangeView(QWidget* parent)
    : QWidget(parent),
      model_(new AggregateModel(this)),
      table_(new DataTable),
      grouping_(new QComboBox),
      copy_(new QPushButton(tr("Copy"))),
      back_(new QPushButton(tr("Back"))),
      filter_(new QLineEdit),
      title_(new WrappedLabel),
      cancel_(std::make_shared<std::atomic<bool>>(false)) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Events of the selected range"));
  table_->horizontalHeader()->setSortIndicator(AggregateModel::kTotal, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  table_->setNamesColumn(AggregateModel::kName);
  grouping_->addItems({tr("by name"), tr("by category"), tr("by layer"), tr("by thread"), tr("by stream"),
                       tr("by phase"), tr("by exact name")});
  grouping_->setAccessibleName(tr("Grouping of the range"));
  copy_->setToolTip(tr("Selected rows, or all, as text with tabs (Ctrl+C)"));
  auto* top = new QHBoxLayout;
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setAccessibleName(tr("Filter the range's table"));
  addClearButton(*filter_);
  filter_->setMaximumWidth(fontMetrics().averageCharWidth() * 24);
  back_->setToolTip(tr("Out of the row that was opened (Backspace)"));
  table_->setToolTip(tr(
      "Return or a double click opens a row: the names of a group, what a thread or a layer did; an event's "
      "name is found on the timeline."));
  top->addWidget(back_);
  top->addWidget(title_, 1);
  top->addWidget(filter_);
  top->addWidget(grouping_);
  top->addWidget(copy_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addLayout(top);
  layout->addWidget(table_);
  setFocusProxy(table_);
  connect(table_, &DataTable::rowActivated, this, &RangeView::openRow);
  connect(table_, &DataTable::leaveWanted, this, &RangeView::leaveRow);
  connect(back_, &QPushButton::clicked, this, &RangeView::leaveRow);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->setFilter(text);
    const QHeaderView* header = table_->horizontalHeader();
    model_->sort(header->sortIndicatorSection(), header->sortIndicatorOrder());
    showTitle({});
  });
  connect(table_, &DataTable::remarked, this, &RangeView::remarked);
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this] {
    if (part_) {  // another grouping of all again
      tracks_ = levels_.front().tracks;
      levels_.clear();
      group_.reset();
      part_.reset();
    }
    askAgain();
  });
  connect(copy_, &QPushButton::clicked, table_, &DataTable::copy);
  back_->hide();
  clear();
}

RangeView::~RangeView() { cancel_->store(true); }

void RangeView::clear() {
  background_.cancel();
  cancel_->store(true);
  timeline_.reset();
  restart();
  model_->clear();
  copy_->setEnabled(false);
  title_->setText(
      tr("Drag over the timeline to select a time range, or press R for that of the selected event."));
}

void RangeView::ask(std::shared_ptr<const Timeline> timeline, std::vector<std::size_t> tracks, TimeNs from,
                    TimeNs to) {
  timeline_ = std::move(timeline);
  if (!levels_.empty()) restart();
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
  if (part_ || readsTrace(by)) return askTrace();
  background_.ask(
      [timeline = timeline_, tracks = tracks_, from = from_, to = to_, by,
       group = group_](const std::atomic<bool>& cancel) {
        if (by == RangeGrouping::thread || by == RangeGrouping::stream) {
          const TrackKind kind = by == RangeGrouping::thread ? TrackKind::thread : TrackKind::stream;
          return groupTracks(*timeline, tracks, kind, from, to, cancel);
        }
        return GroupedRows{{}, sumNames(*timeline, tracks, {from, to}, by, group, cancel), {}};
      },
      [this](GroupedRows answer) { show(std::move(answer)); });
}

// --- into rows and out of them ------------------------------------------------------------------------------

void RangeView::openRow(int row) {
  const AggregateRow& of = model_->row(row);
  const QString title = model_->label(row);
  Level level{grouping(), tracks_, group_, part_, title};
  if (part_) {
    emit nameActivated(title.section('*', 0, 0));
    return;
  }
  if (readsTrace(grouping())) {
    part_ = Part{grouping(), title.toStdString()};
  } else if (grouping() == RangeGrouping::name && timeline_->groups.any &&
             timeline_->groups.sizes[of.name] > 1) {
    group_ = of.name;
  } else if (grouping() == RangeGrouping::name || grouping() == RangeGrouping::exactName) {
    // A group stands for its part before the first number.
    emit nameActivated(grouping() == RangeGrouping::name ? title.section('*', 0, 0) : title);
    return;
  } else if (of.name < label_tracks_.size()) {
    tracks_ = {label_tracks_[of.name]};
  } else {
    return;
  }
  levels_.push_back(std::move(level));
  const QSignalBlocker once(grouping_);
  setGrouping(group_ ? RangeGrouping::exactName : RangeGrouping::name);
  askAgain();
}

void RangeView::leaveRow() {
  if (levels_.empty()) return;
  Level level = std::move(levels_.back());
  levels_.pop_back();
  tracks_ = std::move(level.tracks);
  group_ = level.group;
  part_ = level.part;
  const QSignalBlocker once(grouping_);
  setGrouping(level.grouping);
  askAgain();
}

// Another range: the grouping is again the user's.
void RangeView::restart() {
  const QSignalBlocker once(grouping_);
  if (!levels_.empty()) setGrouping(levels_.front().grouping);
  levels_.clear();
  group_.reset();
  part_.reset();
}

void RangeView::askTrace() {
  if (session_ == nullptr) return title_->setText(tr("No trace is open."));
  title_->setText(tr("Reading the trace ..."));
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  session_->ask([self = QPointer<RangeView>(this), timeline = timeline_, tracks = tracks_, from = from_,
                 to = to_, by = grouping(), part = part_, cancel = cancel_](Trace& trace) {
    if (cancel->load()) return;
    auto answer = std::make_shared<GroupedRows>(
        part ? namesWithin(trace, *timeline, tracks, part->grouping, part->label, from, to, *cancel)
             : groupEvents(trace, *timeline, tracks, by, from, to, *cancel));
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, answer, cancel] {
          if (self && !cancel->load()) self->show(std::move(*answer));
        },
        Qt::QueuedConnection);
  });
}

void RangeView::show(GroupedRows answer) {
  const QString error = QString::fromStdString(answer.error);
  label_tracks_ = std::move(answer.tracks);
  const RangeGrouping by = grouping();
  const bool names = !part_ && (by == RangeGrouping::name || by == RangeGrouping::exactName);
  if (names && (by == RangeGrouping::exactName || timeline_->groups.titles.empty())) {
    model_->setRows(timeline_, std::move(answer.rows));
  } else if (names) {
    const std::shared_ptr<const std::vector<std::string>> titles(timeline_, &timeline_->groups.titles);
    model_->setRows(titles, std::move(answer.rows), tr("Name"));
  } else {
    static const char* const kWhat[] = {QT_TR_NOOP("Name"),   QT_TR_NOOP("Category"), QT_TR_NOOP("Layer"),
                                        QT_TR_NOOP("Thread"), QT_TR_NOOP("Stream"),   QT_TR_NOOP("Phase")};
    auto labels = std::make_shared<const std::vector<std::string>>(std::move(answer.labels));
    model_->setRows(std::move(labels), std::move(answer.rows), tr(kWhat[grouping_->currentIndex()]));
  }
  // Groups that are not of events have no events within them.
  table_->setColumnHidden(AggregateModel::kSelf, !names);
  const QHeaderView* header = table_->horizontalHeader();
  model_->sort(header->sortIndicatorSection(), header->sortIndicatorOrder());
  table_->fitColumns();
  copy_->setEnabled(model_->countAll() > 0);
  back_->setVisible(!levels_.empty());
  showTitle(error);
  emit answered();
}

void RangeView::showTitle(const QString& error) {
  if (!timeline_) return;
  const QString span = QString::fromStdString(showDuration(static_cast<double>(to_ - from_)));
  QString where;
  for (const Level& level : levels_) where += level.title + QStringLiteral(" \u203a ");
  if (!error.isEmpty()) {
    title_->setText(tr("Error: %1").arg(error));
  } else if (model_->countAll() == 0) {
    title_->setText(where + tr("%1 selected; no event of these rows is in it.").arg(span));
  } else {
    title_->setText(where +
                    tr("%1 on %2; %3 of %4 lines. Total counts the parts within the range.")
                        .arg(span, tracks_.size() == 1 ? tr("1 row") : tr("%1 rows").arg(tracks_.size()))
                        .arg(model_->rowCount())
                        .arg(model_->countAll()));
  }
}

}  // namespace pitwall::gui
