// Flame graph of the selected range, of the whole trace when there is none: computed in the
// background, only while the page is visible.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include "gui/models/background.h"
#include "gui/views/flame_canvas.h"

namespace pitwall::gui {

class FlamePage final : public QWidget {
  Q_OBJECT
 public:
  explicit FlamePage(QWidget* parent = nullptr);

  void setTimeline(std::shared_ptr<const Timeline> timeline);
  // Which tracks count, and when; nullopt: the whole trace.
  void setRange(std::vector<std::size_t> tracks, std::optional<std::pair<TimeNs, TimeNs>> range);
  FlameCanvas& canvas() { return *canvas_; }
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
  void showFacts(int node);
  void showTitle();

  std::shared_ptr<const Timeline> timeline_;
  std::vector<std::size_t> tracks_;
  std::optional<std::pair<TimeNs, TimeNs>> range_;
  bool stale_ = true;
  FlameCanvas* canvas_;
  QComboBox* grouping_;
  QLineEdit* search_;
  QLabel *title_, *facts_;
  QPushButton *out_, *show_;
  Background background_;
};

}  // namespace pitwall::gui
