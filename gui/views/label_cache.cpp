#include "gui/views/label_cache.h"

#include <QFontMetrics>

namespace pitwall::gui {
namespace {

constexpr std::size_t kMostLabels = 20'000;
constexpr int kMostCharacters = 300;  // more fit into no screen
constexpr int kWidthStep = 8;         // labels of nearly one width are one

}  // namespace

void LabelCache::use(const QFont& font, const void* trace) {
  if (font == font_ && trace == trace_ && labels_.size() < kMostLabels && names_.size() < kMostLabels) return;
  font_ = font;
  trace_ = trace;
  names_.clear();
  labels_.clear();
}

const QStaticText& LabelCache::label(std::uint32_t id, const std::string& name, int width) {
  Name& known = names_[id];
  if (known.width == 0) {
    known.text =
        QString::fromUtf8(name.data(),
                          static_cast<qsizetype>(std::min<std::size_t>(name.size(), 4 * kMostCharacters)))
            .left(kMostCharacters)
            .simplified();
    known.width = 1 + QFontMetrics(font_).horizontalAdvance(known.text);
  }
  const int shown = known.width <= width ? 0 : width / kWidthStep + 1;  // 0: whole
  QStaticText& label = labels_[std::uint64_t{id} << 32 | static_cast<std::uint32_t>(shown)];
  if (label.text().isEmpty()) {
    label.setTextFormat(Qt::PlainText);
    label.setPerformanceHint(QStaticText::AggressiveCaching);
    label.setText(shown == 0
                      ? known.text
                      : QFontMetrics(font_).elidedText(known.text, Qt::ElideRight, (shown - 1) * kWidthStep));
    label.prepare({}, font_);
  }
  return label;
}

}  // namespace pitwall::gui
