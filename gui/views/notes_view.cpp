#include "gui/views/notes_view.h"

#include <QHeaderView>
#include <QVBoxLayout>

#include "gui/views/wrapped_label.h"

namespace pitwall::gui {

NotesView::NotesView(QWidget* parent)
    : QWidget(parent), model_(new NotesModel(this)), table_(new DataTable), empty_(new WrappedLabel) {
  table_->setModel(model_);
  table_->setAccessibleName(tr("Notes and bookmarks"));
  table_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->setColumnWidth(NotesModel::kTime, fontMetrics().averageCharWidth() * 20);
  table_->setColumnWidth(NotesModel::kLength, fontMetrics().averageCharWidth() * 14);
  empty_->setText(tr(
      "No notes yet. Shift+M adds one to the selected range, event or the middle of the view; Ctrl+M edits "
      "its text. They are stored with your user data, not in the trace."));
  empty_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(empty_);
  layout->addWidget(table_, 1);
  setFocusProxy(table_);
  connect(table_, &DataTable::rowActivated, this, &NotesView::activated);
  const auto show = [this] {
    empty_->setVisible(model_->rowCount() == 0);
    table_->setVisible(model_->rowCount() > 0);
  };
  connect(model_, &NotesModel::changed, this, show);
  show();
}

void NotesView::setCurrent(int row) { table_->setCurrentIndex(model_->index(row, NotesModel::kText)); }

void NotesView::edit(int row) {
  setCurrent(row);
  table_->setFocus();
  table_->edit(model_->index(row, NotesModel::kText));
}

}  // namespace pitwall::gui
