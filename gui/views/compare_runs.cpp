// The table of three or more runs below a comparison.
#include "gui/views/compare_page.h"
#include "gui/views/data_table.h"

namespace pitwall::gui {

void ComparePage::makeRunsTable() {
  makeTables();
  runs_table_ = new DataTable(this);
  runs_table_->setModel(runs_);
  runs_table_->setNamesColumn(RunsModel::kPath);
  runs_table_->setAccessibleName(tr("All runs"));
  runs_table_->setToolTip(tr("Return or a double click compares the run with the first one."));
  runs_table_->hide();
  connect(runs_table_, &DataTable::rowActivated, this, [this](int row) {
    if (row > 0) openOther(runs_->run(row).path);
  });
}

void ComparePage::setRuns(const QStringList& paths) {
  measuring_.cancel();
  measured_.clear();
  runs_->setRuns({});
  if (runs_table_ == nullptr && !paths.isEmpty()) makeRunsTable();
  const int at = tables_->indexOf(runs_table_);
  if (paths.isEmpty()) {
    if (at >= 0) tables_->removeTab(at);
    return;
  }
  if (at < 0) tables_->insertTab(0, runs_table_, tr("Runs"));
  tables_->setCurrentWidget(runs_table_);
  measureRuns(paths);
}

// One after the other, each shown as soon as it is known.
void ComparePage::measureRuns(const QStringList& paths) {
  const auto next = static_cast<qsizetype>(measured_.size());
  if (next >= paths.size()) return;
  measuring_.ask([path = paths[next]](const std::atomic<bool>& cancel) { return measureRun(path, cancel); },
                 [this, paths](Run run) {
                   measured_.push_back(std::move(run));
                   runs_->setRuns(measured_);
                   runs_table_->fitColumns();
                   emit runMeasured(static_cast<int>(measured_.size()));
                   measureRuns(paths);
                 });
}

}  // namespace pitwall::gui
