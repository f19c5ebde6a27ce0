// What is in view or selected, as text, CSV or a picture on the clipboard; and the greatest value of a counter.
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/app/main_window.h"
#include "gui/models/view_text.h"

namespace pitwall::gui {

void MainWindow::makeCopyActions() {
  actions_->addSeparator(MenuId::select);
  actions_->add(MenuId::select, {"select.copy_csv", tr("Copy the range's table as CS&V"), "", [this] {
                                   if (range_->model().countAll() == 0)
                                     return showRemark(tr("Select a range first: drag over the timeline."));
                                   QGuiApplication::clipboard()->setText(tableText(range_->model(), ','));
                                   showRemark(tr("The range's table is copied as CSV."));
                                 }});
  actions_->add(MenuId::select,
                {"select.copy_picture", tr("Copy the range or the view as a p&icture"), "Ctrl+Alt+C", [this] {
                   if (!timelineInFocus().timeline()) return;
                   QGuiApplication::clipboard()->setImage(timelineInFocus().selectedPicture());
                   showRemark(tr("The picture is copied."));
                 }});
  actions_->add(MenuId::view,
                {"view.describe", tr("Descr&ibe the view in words"), "Ctrl+I", [this] { describeInView(); }});
  actions_->add(MenuId::select,
                {"select.peak", tr("&Greatest value of the counter, or longest gap of the row"), "X",
                 [this] { timelineInFocus().goToPeak(); }, true});
}

void MainWindow::describeInView() {
  const TimelineView& view = timelineInFocus();
  if (!view.timeline()) return showRemark(tr("No trace is open."));
  describing_.ask(
      [what = view.viewToDescribe()](const std::atomic<bool>& cancel) { return describeView(what, cancel); },
      [this](const QString& text) { showText(tr("The view in words"), text); });
}

void MainWindow::showText(const QString& title, const QString& text) {
  auto* dialog = new QDialog(this);
  dialog->setObjectName("text");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->resize(width() * 2 / 3, height() / 2);
  auto* shown = new QPlainTextEdit(text);
  shown->setReadOnly(true);
  shown->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  shown->setAccessibleName(title);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* copy = buttons->addButton(tr("&Copy"), QDialogButtonBox::ActionRole);
  connect(copy, &QPushButton::clicked, this, [text] { QGuiApplication::clipboard()->setText(text); });
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(shown);
  column->addWidget(buttons);
  shown->setFocus();
  dialog->open();
}

}  // namespace pitwall::gui
