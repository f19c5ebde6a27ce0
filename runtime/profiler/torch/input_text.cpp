#include "runtime/profiler/torch/input_text.h"

namespace pitwall::torch {

std::string shapesText(const std::vector<std::vector<std::int64_t>>& sizes) {
  constexpr std::size_t kMost = 512;
  std::string text;
  for (std::size_t input = 0; input < sizes.size(); ++input) {
    if (input > 0) text += ',';
    for (std::size_t i = 0; i < sizes[input].size(); ++i) {
      if (i > 0) text += 'x';
      text += std::to_string(sizes[input][i]);
    }
  }
  while (!text.empty() && text.back() == ',') text.pop_back();
  if (text.size() > kMost) text.resize(kMost);
  return text;
}

std::string firstType(const std::vector<std::string>& types) {
  for (const std::string& type : types) {
    if (!type.empty()) return type;
  }
  return {};
}

}  // namespace pitwall::torch
