#include "gui/views/events_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>

#include "analyzer/units_text.h"
#include "gui/views/clear_button.h"

namespace pitwall::gui {
namespace {

QString count(std::size_t n) { return QString::fromStdString(showCount(static_cast<std::int64_t>(n))); }

}  // namespace

EventsPage::EventsPage(QWidget* parent)
    : Page(parent),
      model_(new EventTableModel(this)),
      table_(new DataTable),
      words_(new QLineEdit),
      in_range_(new QCheckBox(tr("Selected r&ange only"))),
      state_(new QLabel),
      export_(new QPushButton(tr("E&xport CSV..."))) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Events"));
  table_->horizontalHeader()->setSortIndicator(EventTableModel::kStart, Qt::AscendingOrder);
  table_->setSortingEnabled(true);
  const int em = fontMetrics().averageCharWidth();
  const int widths[] = {36 * em, 14 * em, 28 * em, 20 * em, 14 * em, 8 * em};
  for (int column = 0; column < EventTableModel::kColumns; ++column)
    table_->setColumnWidth(column, widths[column]);
  // Start and duration are next to the name, so that they are visible in a narrow window too.
  table_->horizontalHeader()->moveSection(EventTableModel::kStart, 1);
  table_->horizontalHeader()->moveSection(EventTableModel::kDuration, 2);
  words_->setPlaceholderText(tr("Filter by words in the name or the row"));
  words_->setAccessibleName(tr("Filter events"));
  addClearButton(*words_);
  auto* copy = new QPushButton(tr("&Copy"));
  copy->setToolTip(tr("Selected rows, or all, as text with tabs (Ctrl+C)"));
  auto* top = new QHBoxLayout;
  top->addWidget(words_, 1);
  top->addWidget(in_range_);
  top->addWidget(copy);
  top->addWidget(export_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addLayout(top);
  layout->addWidget(state_);
  layout->addWidget(table_, 1);
  setFocusProxy(table_);
  typing_.setSingleShot(true);
  typing_.setInterval(150);
  connect(words_, &QLineEdit::textChanged, &typing_, qOverload<>(&QTimer::start));
  connect(&typing_, &QTimer::timeout, this, &EventsPage::applyFilter);
  connect(in_range_, &QCheckBox::toggled, this, &EventsPage::applyFilter);
  connect(model_, &EventTableModel::asked, this, &EventsPage::showState);
  connect(model_, &EventTableModel::ordered, this, &EventsPage::showState);
  connect(table_, &DataTable::rowActivated, this,
          [this](int row) { emit eventActivated(model_->refAt(row)); });
  connect(table_, &DataTable::remarked, this, &EventsPage::remarked);
  connect(copy, &QPushButton::clicked, table_, &DataTable::copy);
  connect(export_, &QPushButton::clicked, this, &EventsPage::exportCsv);
  setTimeline(nullptr);
}

void EventsPage::setTimeline(std::shared_ptr<const Timeline> timeline) {
  range_.reset();
  in_range_->setChecked(false);
  in_range_->setEnabled(false);
  model_->setTimeline(nullptr);
  waiting_ = std::move(timeline);
  if (waiting_ && isVisible()) model_->setTimeline(std::exchange(waiting_, nullptr));
  showState();
}

void EventsPage::showEvent(QShowEvent* event) {
  if (waiting_) model_->setTimeline(std::exchange(waiting_, nullptr));
  if (in_range_->isChecked()) applyFilter();
  QWidget::showEvent(event);
}

void EventsPage::setRange(std::optional<std::pair<TimeNs, TimeNs>> range) {
  if (range_ == range) return;
  range_ = range;
  in_range_->setEnabled(range_.has_value());
  if (!range_ && in_range_->isChecked()) return in_range_->setChecked(false);
  if (in_range_->isChecked() && isVisible()) applyFilter();
}

void EventsPage::setWords(const QString& words) {
  words_->setText(words);
  applyFilter();
}

void EventsPage::applyFilter() {
  typing_.stop();
  model_->setFilter(words_->text().toStdString(), in_range_->isChecked() ? range_ : std::nullopt);
}

void EventsPage::showState() {
  const std::size_t found = model_->found();
  export_->setEnabled(found > 0);
  if (!model_->numbers()) return state_->setText(tr("No trace is open."));
  if (model_->isBusy())
    return state_->setText(tr("Sorting %1 events ...").arg(count(model_->numbers()->size())));
  if (found == 0) return state_->setText(tr("No event passes the filter."));
  QString text = tr("%1 of %2 events").arg(count(found), count(model_->numbers()->size()));
  if (found > EventTableModel::kMostRows)
    text += tr("; the first %1 in this order are shown: sort, filter or select a range to see others")
                .arg(count(EventTableModel::kMostRows));
  state_->setText(text);
}

void EventsPage::exportCsv() {
  if (model_->found() == 0) return emit remarked(tr("There are no events to export."));
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Export events"), "events.csv", tr("CSV (*.csv)"));
  if (!path.isEmpty()) exportCsvTo(path);
}

void EventsPage::exportCsvTo(const QString& path) {
  if (!model_->order()) return;
  emit remarked(tr("Writing %1 ...").arg(path));
  writing_.ask(
      [path, numbers = model_->numbers(), order = model_->order()](const std::atomic<bool>& cancel) {
        return writeEventsCsv(path, *numbers, *order, cancel);
      },
      [this, path](const QString& error) {
        error.isEmpty() ? emit remarked(tr("%1 is written.").arg(path)) : emit failed(error);
        emit exported();
      });
}

}  // namespace pitwall::gui
