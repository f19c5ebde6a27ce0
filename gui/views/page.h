// A page of the window. Its size does not follow from what is on it: so nothing of a page is laid out before
// it is shown, and no page makes the window larger.
#pragma once

#include <QWidget>

namespace pitwall::gui {

class Page : public QWidget {
 public:
  using QWidget::QWidget;
  QSize sizeHint() const override { return {640, 400}; }
  QSize minimumSizeHint() const override { return {300, 200}; }
};

}  // namespace pitwall::gui
