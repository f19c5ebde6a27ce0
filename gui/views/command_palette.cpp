#include "gui/views/command_palette.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

namespace pitwall::gui {
namespace {

// Text on the left, its origin next to it, keys on the right.
class CommandDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {100, option.fontMetrics.height() + 8};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const bool is_selected = option.state.testFlag(QStyle::State_Selected);
    const QPalette& colors = option.palette;
    painter->fillRect(option.rect, colors.color(is_selected ? QPalette::Highlight : QPalette::Base));
    const QColor text = colors.color(is_selected ? QPalette::HighlightedText : QPalette::Text);
    const QColor dim = is_selected ? text : colors.color(QPalette::PlaceholderText);
    const QFontMetrics& metrics = option.fontMetrics;
    QRect room = option.rect.adjusted(8, 0, -8, 0);
    const QString keys = index.data(CommandModel::kKeys).toString();
    painter->setPen(dim);
    painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter, keys);
    if (!keys.isEmpty()) room.setRight(room.right() - metrics.horizontalAdvance(keys) - 16);
    const QString where =
        metrics.elidedText(index.data(CommandModel::kWhere).toString(), Qt::ElideRight, room.width() / 2);
    const QString name = metrics.elidedText(index.data().toString(), Qt::ElideRight,
                                            room.width() - metrics.horizontalAdvance(where) - 12);
    painter->setPen(text);
    painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, name);
    painter->setPen(dim);
    painter->drawText(room.adjusted(metrics.horizontalAdvance(name) + 12, 0, 0, 0),
                      Qt::AlignLeft | Qt::AlignVCenter, where);
  }
};

}  // namespace

CommandPalette::CommandPalette(QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      model_(new CommandModel(this)),
      line_(new QLineEdit),
      list_(new QListView) {
  line_->setPlaceholderText(tr("Action, row or event name; \":\" and SQL to query the trace"));
  line_->setAccessibleName(tr("Command"));
  line_->installEventFilter(this);
  list_->setModel(model_);
  list_->setItemDelegate(new CommandDelegate(list_));
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setAccessibleName(tr("What fits"));
  setAccessibleName(tr("Command palette"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(line_);
  layout->addWidget(list_);
  connect(line_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->setText(text);
    list_->setCurrentIndex(model_->index(0));
  });
  connect(list_, &QListView::clicked, this, &CommandPalette::choose);
}

void CommandPalette::openWith(const QString& typed) {
  const QWidget* over = parentWidget();
  const int width = std::clamp(over->width() * 6 / 10, 360, 900);
  resize(width, std::clamp(over->height() * 6 / 10, 240, 560));
  move(over->mapToGlobal(QPoint((over->width() - width) / 2, over->height() / 10)));
  line_->clear();
  model_->setText({});
  line_->setText(typed);
  list_->setCurrentIndex(model_->index(0));
  show();
  line_->setFocus();
}

void CommandPalette::choose(const QModelIndex& index) {
  if (!index.isValid()) return;
  const Command command = model_->command(index.row());
  hide();
  emit chosen(command);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != line_ || event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  const int rows = model_->rowCount();
  const auto go = [&](int by) {
    if (rows == 0) return;
    const int row = std::clamp(list_->currentIndex().row() + by, 0, rows - 1);
    list_->setCurrentIndex(model_->index(row));
  };
  switch (key) {
    case Qt::Key_Up: go(-1); return true;
    case Qt::Key_Down: go(1); return true;
    case Qt::Key_PageUp: go(-10); return true;
    case Qt::Key_PageDown: go(10); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: choose(list_->currentIndex()); return true;
    default: return QDialog::eventFilter(watched, event);
  }
}

}  // namespace pitwall::gui
