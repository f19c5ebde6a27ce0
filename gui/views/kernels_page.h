// The kernels of a trace as a table; a row that is opened shows its longest execution on the timeline.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include "gui/models/kernels_model.h"
#include "gui/models/trace_session.h"
#include "gui/views/data_table.h"
#include "gui/views/page.h"

namespace pitwall::gui {

class KernelsPage final : public Page {
  Q_OBJECT
 public:
  // Reads through the session, which outlives the page, when it is shown first.
  explicit KernelsPage(TraceSession* session, QWidget* parent = nullptr);

  void setTimeline(std::shared_ptr<const Timeline> timeline);  // null: none
  DataTable& table() { return *table_; }
  KernelsModel& model() { return *model_; }
  QString state() const { return state_->text(); }

 signals:
  void eventActivated(const EventRef& event);
  void remarked(const QString& text);
  void read();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void readNow();
  void show(Result<std::vector<KernelGroup>> groups);
  void showState();

  TraceSession* session_;
  KernelsModel* model_;
  DataTable* table_;
  QLineEdit* words_;
  QLabel* state_;
  std::shared_ptr<const Timeline> timeline_;
  bool wanted_ = false;  // not read yet
  std::shared_ptr<std::atomic<bool>> cancel_;
};

}  // namespace pitwall::gui
