#pragma once

#include <QString>
#include <string>

namespace pitwall::gui {

// UTF-8 text as it must stand within HTML.
inline QString html(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

}  // namespace pitwall::gui
