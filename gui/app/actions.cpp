#include "gui/app/actions.h"

#include <QMenuBar>

#include "db/check.h"

namespace pitwall::gui {

ActionRegistry::ActionRegistry(QMainWindow* window, std::vector<QWidget*> timelines)
    : window_(window), timelines_(std::move(timelines)) {
  const QString titles[kMenus] = {QObject::tr("&File"),     QObject::tr("&View"), QObject::tr("&Rows"),
                                  QObject::tr("&Select"),   QObject::tr("&Go"),   QObject::tr("N&otes"),
                                  QObject::tr("Fi&ndings"), QObject::tr("&Help")};
  for (const QString& title : titles) menus_.push_back(window->menuBar()->addMenu(title));
}

QAction* ActionRegistry::add(MenuId menu_id, const ActionSpec& spec) {
  PITWALL_CHECK(find(spec.id) == nullptr, "action %s is registered twice", spec.id);
  auto* made = new QAction(spec.text, window_);
  made->setObjectName(spec.id);
  if (*spec.keys != 0) made->setShortcuts(QKeySequence::listFromString(spec.keys));
  made->setShortcutContext(spec.of_timeline ? Qt::WidgetWithChildrenShortcut : Qt::WindowShortcut);
  QObject::connect(made, &QAction::triggered, window_, spec.run);
  menu(menu_id)->addAction(made);
  if (spec.of_timeline) {
    for (QWidget* timeline : timelines_) timeline->addAction(made);
  }
  entries_.push_back({spec.id, menu_id, made, spec.of_timeline});
  return made;
}

QAction* ActionRegistry::find(const QString& id) const {
  for (const Entry& entry : entries_) {
    if (entry.id == id) return entry.action;
  }
  return nullptr;
}

QString ActionRegistry::plainText(const QAction& action) {
  QString text = action.text().remove('&');
  while (text.endsWith('.')) text.chop(1);
  return text;
}

QString ActionRegistry::keysText(const QAction& action) {
  QStringList keys;
  for (const QKeySequence& key : action.shortcuts()) keys += key.toString(QKeySequence::NativeText);
  return keys.join(", ");
}

}  // namespace pitwall::gui
