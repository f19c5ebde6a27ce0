// Every action of the window, once: menus, command palette, help sheet and tests read it here.
#pragma once

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <functional>
#include <vector>

namespace pitwall::gui {

// Menus of the bar, in its order.
enum class MenuId { file, view, rows, select, go, notes, findings, help };
inline constexpr int kMenus = 8;

struct ActionSpec {
  const char* id;    // never changes: "view.zoom_in"
  QString text;      // with its mnemonic, in the user's language
  const char* keys;  // "W; Ctrl++": each does; "" for none
  std::function<void()> run;
  bool of_timeline = false;  // its keys, single letters mostly, act while a timeline has the focus
};

class ActionRegistry {
 public:
  struct Entry {
    QString id;
    MenuId menu;
    QAction* action;  // the window's
    bool of_timeline;
  };

  // Makes the menus of the window's bar; the window and the timelines outlive the registry.
  ActionRegistry(QMainWindow* window, std::vector<QWidget*> timelines);

  // Into the menu and the registry. The action belongs to the window.
  QAction* add(MenuId menu, const ActionSpec& spec);
  QMenu* menu(MenuId id) const { return menus_[static_cast<std::size_t>(id)]; }
  void addSeparator(MenuId id) { menu(id)->addSeparator(); }

  const std::vector<Entry>& entries() const { return entries_; }
  QAction* find(const QString& id) const;  // null when there is none

  // "Zoom in", and "W, Ctrl++".
  static QString plainText(const QAction& action);
  static QString keysText(const QAction& action);

 private:
  QMainWindow* window_;
  std::vector<QWidget*> timelines_;
  std::vector<QMenu*> menus_;
  std::vector<Entry> entries_;
};

}  // namespace pitwall::gui
