// Two traces, one above the other on one axis, aligned at an iteration; below them what changed.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QWidget>
#include <memory>
#include <optional>

#include "gui/models/background.h"
#include "gui/models/comparison_model.h"
#include "gui/models/runs_model.h"
#include "gui/models/trace_session.h"
#include "gui/views/page.h"
#include "gui/views/timeline_pair.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {

class DataTable;
class WrappedTable;

class ComparePage final : public Page {
  Q_OBJECT
 public:
  // `a` is the window's open trace, and outlives the page; B is the page's own.
  explicit ComparePage(TraceSession* a, QWidget* parent = nullptr);

  // What A's session had found before this page was created.
  void setFirst(std::shared_ptr<const Timeline> timeline, ReportPtr report);
  void openOther(const QString& path);  // trace B
  // A table of these runs, which are analysed one after the other; a row that is opened becomes trace B. Empty: no table.
  void setRuns(const QStringList& paths);
  RunsModel& runs() { return *runs_; }
  const std::optional<Comparison>& comparison() const { return comparison_; }
  // Iterations, counted from 0, that are at the same place of the axis.
  void align(int of_a, int of_b);
  // A moment of A is drawn above the moment of B that is this much later.
  TimeNs offsetNs() const { return pair_->offsetNs(); }
  TimelineView& timelineA() { return *side_[0].view; }
  TimelineView& timelineB() { return *side_[1].view; }
  const ChangesModel& changes() const { return *work_; }
  const SettingChangesModel& settings() const { return *settings_; }

 signals:
  void otherWanted();  // the user requests a trace to compare with
  void compared();
  void runMeasured(int count);  // of them are in the table
  void failed(const QString& what);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Side {
    TraceSession* session = nullptr;
    TimelineView* view = nullptr;
    QLabel* title = nullptr;
    QSpinBox* iteration = nullptr;
    std::shared_ptr<const Timeline> timeline;
    ReportPtr report;
    std::optional<Measured> measured;
  };

  void makeLayout();
  void makeTables();
  void makeRunsTable();
  void measureRuns(const QStringList& paths);
  void connectSide(int which);
  void setTimeline(int which, std::shared_ptr<const Timeline> timeline);
  void measureSides();
  void compareSides();
  void showComparison();
  void resetComparison();
  void alignNow();

  Side side_[2];
  QLabel* verdict_;
  QLabel* offset_text_;
  QPushButton* open_;
  QTabWidget* tables_;
  WrappedTable* settings_table_ = nullptr;  // made with the other tables
  ChangesModel* work_;
  ChangesModel* breakdown_;
  SettingChangesModel* settings_;
  RunsModel* runs_;
  DataTable* runs_table_ = nullptr;  // made with the first runs
  std::vector<Run> measured_;
  Background measuring_;
  std::optional<Comparison> comparison_;
  TimelinePair* pair_ = nullptr;
  quint64 generation_ = 0;  // of the pair of traces; results of another pair are dropped
};

}  // namespace pitwall::gui
