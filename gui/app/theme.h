// Light and dark colours of the whole application. Event colours follow them and can be distinguished with
// any colour vision in both.
#pragma once

#include <QString>
#include <optional>

namespace pitwall::gui {

enum class Theme { system, light, dark };

// "system", "light", "dark".
std::optional<Theme> themeNamed(const QString& name);
QString nameOf(Theme theme);

// Of the running QApplication. `system` is what the desktop gave it at first.
void applyTheme(Theme theme);

}  // namespace pitwall::gui
