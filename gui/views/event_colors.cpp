#include "gui/views/event_colors.h"

#include <QApplication>
#include <QWidget>

namespace pitwall::gui {
namespace {

// Of the application.
constexpr char kBlind[] = "pitwall_color_blind", kByCategory[] = "pitwall_color_by_category";

bool has(const char* property) { return qApp != nullptr && qApp->property(property).toBool(); }

void set(const char* property, bool on) {
  if (on == has(property)) return;
  qApp->setProperty(property, on);
  for (QWidget* widget : QApplication::allWidgets()) {
    QEvent change(QEvent::PaletteChange);
    QApplication::sendEvent(widget, &change);
    widget->update();
  }
}

}  // namespace

bool isDark(const QPalette& palette) {
  return palette.color(QPalette::Base).lightness() < palette.color(QPalette::Text).lightness();
}

const Palette& eventColors(bool dark) { return Palette::of(dark, colorBlindColors(), eventColoring()); }

bool colorBlindColors() { return has(kBlind); }
void setColorBlindColors(bool on) { set(kBlind, on); }

ColorBy eventColoring() { return has(kByCategory) ? ColorBy::category : ColorBy::name; }
void setEventColoring(ColorBy by) { set(kByCategory, by == ColorBy::category); }

}  // namespace pitwall::gui
