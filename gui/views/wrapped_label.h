// A label whose text is wrapped. QLabel measures its text at many widths to find a pleasant size, for pages that
// are not shown as well; this one estimates it. Layouts ask for the height at the width that they give, several
// times, and it is measured once.
#pragma once

#include <QEvent>
#include <QHash>
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
  int heightForWidth(int width) const override {
    if (measured_ != text()) {
      measured_ = text();
      heights_.clear();
    }
    const auto known = heights_.constFind(width);
    if (known != heights_.constEnd()) return *known;
    return *heights_.insert(width, QLabel::heightForWidth(width));
  }

 protected:
  void changeEvent(QEvent* event) override {
    heights_.clear();  // another font, style or language
    QLabel::changeEvent(event);
  }

 private:
  static constexpr int kWidth = 320, kLeastWidth = 80;  // pixels
  mutable QString measured_;
  mutable QHash<int, int> heights_;  // of that text, by width
};

}  // namespace pitwall::gui
