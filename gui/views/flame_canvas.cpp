#include "gui/views/flame_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "gui/timeline/palette.h"
#include "gui/timeline/search.h"
#include "gui/views/event_colors.h"

namespace pitwall::gui {
namespace {

constexpr double kLeastPx = 0.5;

// Black or white, whichever reads better on it.
QColor textOn(const QColor& color) {
  const int luma = (color.red() * 299 + color.green() * 587 + color.blue() * 114) / 1000;
  return luma > 127 ? QColor(Qt::black) : QColor(Qt::white);
}

}  // namespace

FlameCanvas::FlameCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Flame graph"));
}

void FlameCanvas::setTree(std::shared_ptr<const Timeline> timeline, std::shared_ptr<const FlameTree> tree) {
  timeline_ = std::move(timeline);
  tree_ = std::move(tree);
  selected_ = zoomed_ = 0;
  hovered_ = -1;
  names_.clear();
  searching_ = false;
  matches_ = 0;
  verticalScrollBar()->setValue(0);
  layOut();
  emit selectionChanged();
}

void FlameCanvas::setMessage(const QString& message) {
  message_ = message;
  viewport()->update();
}

void FlameCanvas::setSearch(const QString& text) {
  searching_ = tree_ && !text.isEmpty();
  matches_ = 0;
  if (searching_) {
    names_ = matchingNames(tree_->of_stacks ? tree_->names : timeline_->names, text.toStdString());
    for (std::uint32_t node = 1; node < tree_->nodes.size(); ++node) matches_ += isMatch(node);
  }
  viewport()->update();
}

bool FlameCanvas::isMatch(std::uint32_t node) const {
  const std::uint32_t name = tree_->nodes[node].name;
  return node != 0 && name < names_.size() && names_[name];
}

// --- layout ---------------------------------------------------------------------------------------------

void FlameCanvas::layOut() {
  cells_.clear();
  const double width = viewport()->width();
  if (tree_ && tree_->nodes[0].total_ns > 0 && width > 0) {
    ns_per_px_ = static_cast<double>(tree_->nodes[zoomed_].total_ns) / width;
    std::vector<Cell> around;
    for (std::uint32_t node = zoomed_;; node = tree_->nodes[node].parent) {
      around.push_back({node, 0, width, tree_->nodes[node].depth, false});
      if (node == 0) break;
    }
    cells_.assign(around.rbegin(), around.rend());
    // cells_ grows during the loop: the rows are ordered breadth first.
    for (std::size_t i = cells_.size() - 1; i < cells_.size(); ++i) {
      if (!cells_[i].rest) layOutRow(Cell(cells_[i]));
    }
  }
  const std::uint32_t rows = cells_.empty() ? 0 : cells_.back().depth + 1;
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(rows) * rowHeight() - viewport()->height()));
  verticalScrollBar()->setPageStep(std::max(1, viewport()->height()));
  verticalScrollBar()->setSingleStep(rowHeight());
  viewport()->update();
}

// What is directly inside a cell; those too narrow to be seen share one sliver at the end.
void FlameCanvas::layOutRow(const Cell& around) {
  double x = around.x;
  TimeNs rest = 0;
  const auto children = tree_->childrenOf(around.node);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const double width = static_cast<double>(tree_->nodes[children[i]].total_ns) / ns_per_px_;
    if (width < kLeastPx) {
      for (; i < children.size(); ++i) rest += tree_->nodes[children[i]].total_ns;
      break;
    }
    cells_.push_back({children[i], x, width, around.depth + 1, false});
    x += width;
  }
  const double width = static_cast<double>(rest) / ns_per_px_;
  if (width > 0) cells_.push_back({around.node, x, std::max(1.0, width), around.depth + 1, true});
}

QRectF FlameCanvas::rectOf(const Cell& cell) const {
  return {cell.x, static_cast<double>(cell.depth) * rowHeight() - verticalScrollBar()->value(), cell.width,
          static_cast<double>(rowHeight())};
}

QRectF FlameCanvas::rectOf(std::uint32_t node) const {
  for (const Cell& cell : cells_) {
    if (cell.node == node && !cell.rest) return rectOf(cell);
  }
  return {};
}

const FlameCanvas::Cell* FlameCanvas::cellAt(const QPointF& at) const {
  const Cell* found = nullptr;
  for (const Cell& cell : cells_) {
    if (rectOf(cell).contains(at)) found = &cell;
  }
  return found;
}

// --- painting -------------------------------------------------------------------------------------------

void FlameCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (cells_.empty()) {
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                     message_);
    return;
  }
  for (const Cell& cell : cells_) paintCell(painter, cell);
  const QRectF selected = rectOf(selected_);
  if (!selected.isEmpty()) {
    painter.setPen(QPen(palette().color(QPalette::Text), 2));
    painter.drawRect(selected.adjusted(1, 1, -1, -1));
  }
  if (hasFocus()) {
    painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
    painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
  }
}

void FlameCanvas::paintCell(QPainter& painter, const Cell& cell) const {
  const QRectF rect = rectOf(cell);
  if (rect.bottom() < 0 || rect.top() > viewport()->height()) return;
  const FlameNode& node = tree_->nodes[cell.node];
  const bool plain = cell.rest || cell.node == 0 || node.name == FlameNode::kTrackNode;
  const Palette& colors = eventColors(isDark(palette()));
  QColor color = plain ? palette().color(QPalette::Button) : QColor::fromRgb(colors.color[node.color]);
  const bool dim = searching_ && (cell.rest || !isMatch(cell.node));
  if (dim) color = QColor::fromRgb(blend(colors.background, color.rgb(), 70));
  if (static_cast<int>(cell.node) == hovered_ && !cell.rest) color = color.lighter(115);
  const double gap = rect.width() > 3 ? 1 : 0;
  painter.fillRect(rect.adjusted(0, 0, -gap, -1), color);
  if (cell.rest || rect.width() < 28) return;
  painter.setPen(plain ? palette().color(QPalette::ButtonText) : textOn(color));
  const QString text = QString::fromStdString(tree_->nameOf(*timeline_, cell.node)).left(300);
  const QRectF inside = rect.adjusted(4, 0, -4 - gap, -1);
  painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(inside.width())));
}

void FlameCanvas::resizeEvent(QResizeEvent*) { layOut(); }

void FlameCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) layOut();
  QAbstractScrollArea::changeEvent(event);
}

// --- input ----------------------------------------------------------------------------------------------

void FlameCanvas::select(quint32 node) {
  if (!tree_ || node >= tree_->nodes.size()) return;
  selected_ = node;
  const FlameFacts facts = factsOf(*tree_, *timeline_, node);
  setAccessibleDescription(QString::fromStdString(facts.path + ": " + facts.numbers));
  reveal(node);
  viewport()->update();
  emit selectionChanged();
}

void FlameCanvas::reveal(std::uint32_t node) {
  const int top = static_cast<int>(tree_->nodes[node].depth) * rowHeight();
  QScrollBar* bar = verticalScrollBar();
  if (top < bar->value()) bar->setValue(top);
  if (top + rowHeight() > bar->value() + viewport()->height())
    bar->setValue(top + rowHeight() - viewport()->height());
}

void FlameCanvas::zoomTo(quint32 node) {
  if (!tree_ || node >= tree_->nodes.size() || tree_->nodes[node].total_ns <= 0) return;
  zoomed_ = node;
  layOut();
  select(node);
}

void FlameCanvas::zoomOut() {
  if (tree_ && zoomed_ != 0) zoomTo(tree_->nodes[zoomed_].parent);
}

// To the neighbour among those drawn at the same depth.
void FlameCanvas::step(int by) {
  std::vector<std::uint32_t> row;
  for (const Cell& cell : cells_) {
    if (cell.depth == tree_->nodes[selected_].depth && !cell.rest) row.push_back(cell.node);
  }
  const auto at = std::find(row.begin(), row.end(), selected_);
  if (at == row.end()) return;
  const auto next =
      std::clamp<std::ptrdiff_t>(at - row.begin() + by, 0, static_cast<std::ptrdiff_t>(row.size()) - 1);
  select(row[static_cast<std::size_t>(next)]);
}

void FlameCanvas::keyPressEvent(QKeyEvent* event) {
  if (!tree_) return QAbstractScrollArea::keyPressEvent(event);
  const FlameNode& node = tree_->nodes[selected_];
  switch (event->key()) {
    case Qt::Key_Left: return step(-1);
    case Qt::Key_Right: return step(1);
    case Qt::Key_Up: return select(node.parent);
    case Qt::Key_Down:
      if (node.children > 0) select(tree_->childrenOf(selected_)[0]);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter: return zoomTo(selected_);
    case Qt::Key_Backspace:
    case Qt::Key_Escape: return zoomOut();
    case Qt::Key_Home:
    case Qt::Key_0: return zoomTo(0);
    default: QAbstractScrollArea::keyPressEvent(event);
  }
}

// Backspace and Escape are actions of the window, too; here they leave a zoomed box first.
bool FlameCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && zoomed_ != 0) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Escape || key == Qt::Key_Backspace) event->accept();
  }
  return QAbstractScrollArea::event(event);
}

void FlameCanvas::mousePressEvent(QMouseEvent* event) {
  if (const Cell* cell = cellAt(event->position())) select(cell->node);
}

void FlameCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const Cell* cell = cellAt(event->position())) zoomTo(cell->node);
}

void FlameCanvas::mouseMoveEvent(QMouseEvent* event) {
  const Cell* cell = cellAt(event->position());
  const int node = cell == nullptr || cell->rest ? -1 : static_cast<int>(cell->node);
  if (node == hovered_) return;
  hovered_ = node;
  viewport()->update();
  emit hovered(node);
}

bool FlameCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Cell* cell = cellAt(help->pos());
    if (cell == nullptr) {
      QToolTip::hideText();
    } else if (cell->rest) {
      QToolTip::showText(help->globalPos(), tr("Boxes too narrow to be drawn; zoom in to see them"),
                         viewport());
    } else {
      const FlameFacts facts = factsOf(*tree_, *timeline_, cell->node);
      QToolTip::showText(help->globalPos(), QString::fromStdString(facts.name + "\n" + facts.numbers),
                         viewport());
    }
    return true;
  }
  if (event->type() == QEvent::Leave) {
    hovered_ = -1;
    viewport()->update();
    emit hovered(-1);
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace pitwall::gui
