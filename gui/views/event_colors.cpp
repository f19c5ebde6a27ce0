#include "gui/views/event_colors.h"

#include <QApplication>
#include <QWidget>

namespace pitwall::gui {
namespace {

constexpr char kProperty[] = "pitwall_color_blind";  // of the application

}  // namespace

bool isDark(const QPalette& palette) {
  return palette.color(QPalette::Base).lightness() < palette.color(QPalette::Text).lightness();
}

const Palette& eventColors(bool dark) { return Palette::of(dark, colorBlindColors()); }

bool colorBlindColors() { return qApp != nullptr && qApp->property(kProperty).toBool(); }

void setColorBlindColors(bool on) {
  if (on == colorBlindColors()) return;
  qApp->setProperty(kProperty, on);
  for (QWidget* widget : QApplication::allWidgets()) {
    QEvent change(QEvent::PaletteChange);
    QApplication::sendEvent(widget, &change);
    widget->update();
  }
}

}  // namespace pitwall::gui
