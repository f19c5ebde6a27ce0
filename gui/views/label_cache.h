// Names of events as they are drawn into them: laid out once for each name and width, then kept.
#pragma once

#include <QFont>
#include <QStaticText>
#include <string>
#include <unordered_map>

namespace pitwall::gui {

class LabelCache {
 public:
  // The name, or as much of it as fits into `width`. Names are identified by `id`. Valid until the next call.
  const QStaticText& label(std::uint32_t id, const std::string& name, int width);
  // Forgets what was laid out for another font or another trace.
  void use(const QFont& font, const void* trace);

 private:
  struct Name {
    QString text;
    int width = 0;
  };
  QFont font_;
  const void* trace_ = nullptr;
  std::unordered_map<std::uint32_t, Name> names_;
  std::unordered_map<std::uint64_t, QStaticText> labels_;  // by name and width
};

}  // namespace pitwall::gui
