// The command palette, its actions, and keyboard navigation between panes.
#include <QApplication>
#include <QDockWidget>

#include "gui/app/main_window.h"

namespace pitwall::gui {

void MainWindow::makePalette() {
  palette_ = new CommandPalette(this);
  connect(palette_, &CommandPalette::chosen, this, &MainWindow::runCommand);
  actions_->add(MenuId::go, {"go.palette", tr("&Command palette..."), "Ctrl+Shift+P; Ctrl+K",
                             [this] { openPalette({}); }});
  actions_->add(MenuId::go, {"go.ask", tr("&Query with SQL..."), ":", [this] { openPalette(":"); }});
  actions_->add(MenuId::go, {"go.next_pane", tr("Ne&xt pane"), "F6", [this] { nextPane(1); }});
  actions_->add(MenuId::go, {"go.previous_pane", tr("Pre&vious pane"), "Shift+F6", [this] { nextPane(-1); }});
}

void MainWindow::openPalette(const QString& typed) {
  std::vector<Command> commands;
  for (std::size_t i = 0; i < actions_->entries().size(); ++i) {
    const ActionRegistry::Entry& entry = actions_->entries()[i];
    if (!entry.action->isEnabled()) continue;
    commands.push_back({Command::Kind::action, i, ActionRegistry::plainText(*entry.action),
                        ActionRegistry::keysText(*entry.action),
                        actions_->menu(entry.menu)->title().remove('&')});
  }
  palette_->model().setActions(std::move(commands));
  palette_->model().setTimeline(timeline_->timeline());
  palette_->openWith(typed);
}

void MainWindow::runCommand(const Command& command) {
  switch (command.kind) {
    case Command::Kind::action: return actions_->entries()[command.index].action->trigger();
    case Command::Kind::row: showPage(timeline_); return timeline_->focusTrack(command.index);
    case Command::Kind::name:
      if (timeline_->timeline())
        findOnTimeline(
            QString::fromStdString(timeline_->timeline()->name(static_cast<std::uint32_t>(command.index))));
      return;
    case Command::Kind::sql:
      showPage(&trace_pages_->sql());
      if (command.text.isEmpty()) return;
      trace_pages_->sql().setQuery(command.text);
      return trace_pages_->sql().run();
  }
}

// The page in front, what is known of the selection, the findings, the two search fields.
void MainWindow::nextPane(int by) {
  QWidget* const panes[] = {pages_->currentWidget(), drawer_->currentWidget(), findings_, search_,
                            row_filter_};
  constexpr int kPanes = 5;
  int at = by > 0 ? -1 : kPanes;
  const QWidget* focused = QApplication::focusWidget();
  for (int i = 0; i < kPanes; ++i) {
    if (focused != nullptr && (panes[i] == focused || panes[i]->isAncestorOf(focused))) at = i;
  }
  for (int step = 0; step < kPanes; ++step) {
    at = (at + by + kPanes) % kPanes;
    if (!panes[at]->isVisible()) continue;
    panes[at]->setFocus(Qt::TabFocusReason);
    // A pane that cannot have the focus itself gives it to the first widget within.
    for (QWidget* inner : panes[at]->findChildren<QWidget*>()) {
      if (panes[at]->hasFocus() || panes[at]->isAncestorOf(QApplication::focusWidget())) return;
      if (inner->isVisible() && inner->focusPolicy() != Qt::NoFocus) inner->setFocus(Qt::TabFocusReason);
    }
    return;
  }
}

}  // namespace pitwall::gui
