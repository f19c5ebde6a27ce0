#include "gui/app/theme.h"

#include <QApplication>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>

namespace pitwall::gui {
namespace {

struct Colors {
  QRgb window, base, alternate, text, button, dim, highlight, highlighted_text, link;
};

// Text on its background: at least 7:1; dimmed text: at least 4.5:1.
constexpr Colors kLight{0xfff2f3f5, 0xffffffff, 0xffeceef1, 0xff16191d, 0xffe6e8eb,
                        0xff5f6771, 0xff1b62b0, 0xffffffff, 0xff0b57a4};
constexpr Colors kDark{0xff25282d, 0xff1b1d21, 0xff2e3238, 0xfff0f2f4, 0xff363a41,
                       0xffa3abb5, 0xff5aa0e6, 0xff0d0f12, 0xff86bdf5};

QPalette paletteOf(const Colors& c) {
  QPalette palette(QColor::fromRgb(c.button), QColor::fromRgb(c.window));
  const auto set = [&](QPalette::ColorRole role, QRgb color) {
    palette.setColor(role, QColor::fromRgb(color));
  };
  set(QPalette::WindowText, c.text);
  set(QPalette::Base, c.base);
  set(QPalette::AlternateBase, c.alternate);
  set(QPalette::Text, c.text);
  set(QPalette::ButtonText, c.text);
  set(QPalette::BrightText, c.text);
  set(QPalette::ToolTipBase, c.alternate);
  set(QPalette::ToolTipText, c.text);
  set(QPalette::PlaceholderText, c.dim);
  set(QPalette::Highlight, c.highlight);
  set(QPalette::HighlightedText, c.highlighted_text);
  set(QPalette::Link, c.link);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, QColor::fromRgb(c.dim));
  return palette;
}

}  // namespace

std::optional<Theme> themeNamed(const QString& name) {
  for (const Theme theme : {Theme::system, Theme::light, Theme::dark}) {
    if (name == nameOf(theme)) return theme;
  }
  return std::nullopt;
}

QString nameOf(Theme theme) {
  switch (theme) {
    case Theme::light: return QStringLiteral("light");
    case Theme::dark: return QStringLiteral("dark");
    default: return QStringLiteral("system");
  }
}

void applyTheme(Theme theme) {
  static const QString kSystemStyle = QApplication::style()->objectName();
  // Only Fusion takes every colour from the palette; a desktop's style has its own.
  QApplication::setStyle(theme == Theme::system ? kSystemStyle : QStringLiteral("Fusion"));
  if (theme == Theme::system) {
    QApplication::setPalette(QPalette());  // back to the desktop's
  } else {
    QApplication::setPalette(paletteOf(theme == Theme::dark ? kDark : kLight));
  }
}

}  // namespace pitwall::gui
