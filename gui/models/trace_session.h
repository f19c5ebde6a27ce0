// The open trace, behind the user interface: its own thread loads the timeline and runs SQL
// queries, another analyses, so that no frame waits for a file. Signals come back on the user interface's
// thread.
#pragma once

#include <QObject>
#include <QStringList>
#include <QThread>
#include <atomic>
#include <functional>
#include <memory>

#include "gui/models/critical_steps.h"
#include "gui/models/event_details.h"
#include "gui/models/findings_model.h"

namespace pitwall::gui {

class TraceSession final : public QObject {
  Q_OBJECT
 public:
  explicit TraceSession(QObject* parent = nullptr);
  ~TraceSession() override;  // stops what runs

  // Opens another trace; work for the last one is cancelled. A file of another tool is imported into a
  // temporary trace first.
  void open(const QString& path) { open(QStringList{path}); }
  // Several files become one temporary trace, on a common clock.
  void open(const QStringList& paths);
  // Reads the open trace again, as it is now: timelineRefreshed(), and the analysis when the recording is complete. What fails is left for the
  // next time.
  void refresh();
  void close();
  // Stops loading or analysing; what is loaded stays open.
  void stop();
  QString path() const { return paths_.value(0); }  // the first one
  QStringList paths() const { return paths_; }

  void askDetails(std::shared_ptr<const Timeline> timeline, const EventRef& event);
  // Runs `job` on the session's thread with the open trace, after earlier jobs; never when none is
  // open.
  void ask(std::function<void(Trace&)> job);
  // Set when the trace that is open now is closed; for long jobs.
  std::shared_ptr<const std::atomic<bool>> leaving() const { return cancel_; }

 signals:
  void progressed(double share, const QString& what);
  void timelineLoaded(std::shared_ptr<const Timeline> timeline);
  void timelineRefreshed(std::shared_ptr<const Timeline> timeline);   // null: could not be read just now
  void criticalPathFound(std::shared_ptr<const CriticalSteps> path);  // before analyzed()
  void analyzed(pitwall::gui::ReportPtr report);
  void detailsFound(const Details& details, const std::vector<EventLink>& links, const EventRef& event);
  void failed(const QString& what);
  void incomplete(
      const QString& what);  // what another tool's file does not hold, in sentences; before timelineLoaded()

 private:
  struct Work;  // lives in a thread
  using Cancel = std::shared_ptr<std::atomic<bool>>;
  void post(std::function<void(Work&)> job);
  void load(Work& work, const QStringList& paths, const Cancel& cancel);
  void analyze(const std::string& path, std::shared_ptr<const Timeline> timeline,
               const std::shared_ptr<void>& keep, const Cancel& cancel);
  // Runs `what` on the user interface's thread unless another trace was opened meanwhile.
  void postToUi(const Cancel& cancel, std::function<void()> what);

  QStringList paths_;
  // Queries must not wait for the analysis: it has its own thread and reader.
  QThread thread_, analysis_thread_;
  Work *work_, *analyst_;  // deleted by the threads when they end
  Cancel cancel_;
};

}  // namespace pitwall::gui
