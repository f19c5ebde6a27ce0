#pragma once

#include <QLineEdit>
#include <QToolButton>

namespace pitwall::gui {

// A button in the field that empties it, with a name for screen readers.
inline void addClearButton(QLineEdit& field) {
  field.setClearButtonEnabled(true);
  for (QToolButton* button : field.findChildren<QToolButton*>()) {
    button->setAccessibleName(QLineEdit::tr("Clear: %1").arg(field.accessibleName()));
    button->setToolTip(QLineEdit::tr("Clear"));
  }
}

}  // namespace pitwall::gui
