// Flame graph of the selected range, of the whole trace when there is none: of its events or of the stacks that were
// sampled. Computed in the background, only while the page is visible.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include "gui/models/background.h"
#include "gui/models/stack_flames.h"
#include "gui/models/trace_session.h"
#include "gui/views/flame_canvas.h"
#include "gui/views/page.h"

namespace pitwall::gui {

class FlamePage final : public Page {
  Q_OBJECT
 public:
  explicit FlamePage(QWidget* parent = nullptr);

  // Which reads the stacks.
  void setSession(TraceSession* session) { session_ = session; }
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  // Which tracks count, and when; nullopt: the whole trace.
  void setRange(std::vector<std::size_t> tracks, std::optional<std::pair<TimeNs, TimeNs>> range);
  FlameCanvas& canvas() { return *canvas_; }
  QComboBox& source() { return *source_; }  // hidden where no stacks were sampled
  QString facts() const { return facts_->text(); }

 public slots:
  void find() { search_->setFocus(); }

 signals:
  void nameActivated(quint32 name);  // "find on timeline"
  void computed();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void compute();
  void showTree(std::shared_ptr<const FlameTree> tree);
  void askForStacks();
  void setStacks(Result<std::shared_ptr<const SampledStacks>> stacks);
  void showFacts(int node);
  void showTitle();

  std::shared_ptr<const Timeline> timeline_;
  std::vector<std::size_t> tracks_;
  std::optional<std::pair<TimeNs, TimeNs>> range_;
  bool stale_ = true;
  TraceSession* session_ = nullptr;
  std::shared_ptr<const SampledStacks> stacks_;  // null = not read, or none
  QComboBox* source_;
  FlameCanvas* canvas_;
  QComboBox* grouping_;
  QLineEdit* search_;
  QLabel *title_, *facts_;
  QPushButton *out_, *show_;
  Background background_;
};

}  // namespace pitwall::gui
