#pragma once

#include <QString>
#include <string>

namespace pitwall::gui {

// "+1.25 ms" or "\u22121.25 ms": the sign of `value`, of 0 none, before its size in words.
inline QString withSign(double value, const std::string& size) {
  const QString sign = value > 0 ? QStringLiteral("+") : value < 0 ? QStringLiteral("\u2212") : QString();
  return sign + QString::fromStdString(size);
}

}  // namespace pitwall::gui
