// A label whose text is wrapped. QLabel measures its text at many widths to find a pleasant size, for pages that
// are not shown as well; this one estimates it, and layouts ask for the height at the width that they give.
#pragma once

#include <QLabel>

namespace pitwall::gui {

class WrappedLabel final : public QLabel {
 public:
  explicit WrappedLabel(const QString& text = {}, QWidget* parent = nullptr) : QLabel(text, parent) {
    setWordWrap(true);
  }
  QSize sizeHint() const override {
    const QFontMetrics font = fontMetrics();
    const qsizetype lines = (text().size() * font.averageCharWidth() + kWidth - 1) / kWidth;
    return {kWidth, static_cast<int>(lines) * font.height()};
  }
  QSize minimumSizeHint() const override {
    return {kLeastWidth, text().isEmpty() ? 0 : fontMetrics().height()};
  }

 private:
  static constexpr int kWidth = 320, kLeastWidth = 80;  // pixels
};

}  // namespace pitwall::gui
