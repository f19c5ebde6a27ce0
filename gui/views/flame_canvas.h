// Paints a flame tree, the root on top: a box is as wide as its share of the time. Draws nothing below half a
// pixel, so that a frame costs pixels, not nodes.
#pragma once

#include <QAbstractScrollArea>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/flame_tree.h"

namespace pitwall::gui {

class FlameCanvas final : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit FlameCanvas(QWidget* parent = nullptr);

  // Null: none; `message` then says why.
  void setTree(std::shared_ptr<const Timeline> timeline, std::shared_ptr<const FlameTree> tree);
  void setMessage(const QString& message);
  void setSearch(const QString& text);

  const FlameTree* tree() const { return tree_.get(); }
  std::uint32_t selected() const { return selected_; }
  std::uint32_t zoomed() const { return zoomed_; }  // fills the width
  // Where a node is drawn; empty when it is not.
  QRectF rectOf(std::uint32_t node) const;
  std::size_t matches() const { return matches_; }

 public slots:
  void select(quint32 node);
  void zoomTo(quint32 node);
  void zoomOut();  // to the enclosing node

 signals:
  void selectionChanged();
  void hovered(int node);  // -1: none

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Cell {
    std::uint32_t node;
    double x, width;
    std::uint32_t depth;
    bool rest;  // stands for the children that are too narrow
  };

  void layOut();
  void layOutRow(const Cell& around);
  void paintCell(QPainter& painter, const Cell& cell) const;
  int rowHeight() const { return fontMetrics().height() + 6; }
  QRectF rectOf(const Cell& cell) const;
  const Cell* cellAt(const QPointF& at) const;
  void step(int by);
  void reveal(std::uint32_t node);
  bool isMatch(std::uint32_t node) const;

  std::shared_ptr<const Timeline> timeline_;
  std::shared_ptr<const FlameTree> tree_;
  std::vector<Cell> cells_;
  std::vector<bool> names_;  // that the search matches, by StringId.value
  bool searching_ = false;
  std::size_t matches_ = 0;
  std::uint32_t selected_ = 0, zoomed_ = 0;
  int hovered_ = -1;
  double ns_per_px_ = 1;
  QString message_;
};

}  // namespace pitwall::gui
