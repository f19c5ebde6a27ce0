// What an iteration would take after changes: the prediction, its critical path, and the simulated timeline below the
// recorded one.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QWidget>
#include <memory>
#include <optional>

#include "analyzer/simulate.h"
#include "db/temporary.h"
#include "gui/models/simulated_parts.h"
#include "gui/models/trace_session.h"
#include "gui/views/data_table.h"
#include "gui/views/page.h"
#include "gui/views/timeline_pair.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {

class SimulatePage final : public Page {
  Q_OBJECT
 public:
  // Reads through the session, which outlives the page, when it is shown first.
  explicit SimulatePage(TraceSession* session, QWidget* parent = nullptr);

  void setTimeline(std::shared_ptr<const Timeline> timeline);  // null: none
  // As `pitwall simulate --what` takes them, divided by blanks.
  void setChanges(const QString& changes) { changes_->setText(changes); }
  const std::shared_ptr<const Timeline>& timeline() const { return timeline_; }
  QString changes() const { return changes_->text(); }
  QString answer() const { return answer_->text(); }
  TimelineView& recorded() { return *recorded_; }
  TimelineView& simulated() { return *simulated_; }
  const SimulatedPartsModel& parts() const { return *parts_; }
  TimeNs offsetNs() const { return pair_->offsetNs(); }

 public slots:
  void predict();

 signals:
  void answered();
  void settled();  // the same, once the simulated timeline is shown too, where there is one

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Held;  // the simulator of the open trace, on the session's thread
  struct Answer {
    ReplayCheck check;
    std::optional<Prediction> prediction;
    QString timeline, error;
  };

  void makeLayout();
  void makeExamples();
  bool showRecorded();
  TraceSession& simulation();
  void ask(const QStringList& changes);
  static Answer answerOf(Trace& trace, Held& held, const QStringList& changes, const std::string& output,
                         const std::atomic<bool>& cancel);
  void show(const Answer& answer);
  QString sentenceOf(const Answer& answer) const;
  void showSimulated(std::shared_ptr<const Timeline> timeline);
  void align();

  TraceSession* session_;
  TraceSession* simulation_ = nullptr;  // the simulated trace; null: there was none yet
  QLineEdit* changes_;
  QPushButton *predict_, *examples_;
  QSpinBox* iteration_;
  QLabel* answer_;
  TimelineView *recorded_, *simulated_;
  TimelinePair* pair_;
  SimulatedPartsModel* parts_;
  DataTable* table_;
  std::shared_ptr<const Timeline> timeline_;
  std::shared_ptr<const CriticalSteps> path_;  // of the recording; null: not known yet
  std::shared_ptr<Held> held_;
  TemporaryFolder folder_;  // of simulated traces
  int written_ = 0;
  QString shown_;        // the file of the simulated timeline; empty: none
  bool wanted_ = false;  // the recorded path was not asked for yet
  std::shared_ptr<std::atomic<bool>> cancel_;
};

}  // namespace pitwall::gui
