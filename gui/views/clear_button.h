#pragma once

#include <QLineEdit>
#include <QToolButton>

namespace pitwall::gui {

// A button in the field that empties it, with a name for screen readers. Made with the first text: its picture takes
// longer to load than the field takes to make, and it is not visible before.
inline void addClearButton(QLineEdit& field) {
  QObject::connect(&field, &QLineEdit::textChanged, &field, [&field] {
    if (field.isClearButtonEnabled()) return;
    field.setClearButtonEnabled(true);
    for (QToolButton* button : field.findChildren<QToolButton*>()) {
      button->setAccessibleName(QLineEdit::tr("Clear: %1").arg(field.accessibleName()));
      button->setToolTip(QLineEdit::tr("Clear"));
    }
  });
}

}  // namespace pitwall::gui
