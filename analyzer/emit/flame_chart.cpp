// The flame graph of sampled functions.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyzer/emit/charts.h"
#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/utf8.h"
#include "analyzer/units_text.h"

namespace pitwall::emit {
namespace {

constexpr int kFlameWidth = 960;
constexpr int kFlameRow = 18;
constexpr std::size_t kDeepest = 60;
constexpr std::size_t kLongestName = 80;  // columns; each of many boxes may repeat it
constexpr std::size_t kMostBoxes = 1000;  // narrower functions are left out
constexpr double kNarrowest = 1;
constexpr double kCharacterWidth = 6.5;  // of the page's small text, about

const char* colorOf(const CodeNode& node) {
  if (node.language == kStateLanguage) return "#b0b0b0";
  return node.language == "python" ? "#f0a868" : "#8fb4e3";
}

struct Box {
  std::size_t depth = 0;
  double x = 0, width = 0;
  double filled = 0;  // by what it calls
};

// The width that at most kMostBoxes boxes exceed.
double narrowest(const std::vector<Box>& boxes) {
  std::vector<double> widths;
  for (const Box& box : boxes) {
    if (box.depth <= kDeepest && box.width >= kNarrowest) widths.push_back(box.width);
  }
  if (widths.size() <= kMostBoxes) return kNarrowest;
  std::nth_element(widths.begin(), widths.begin() + kMostBoxes, widths.end(), std::greater<>());
  return std::nextafter(widths[kMostBoxes], kFlameWidth + 1.0);
}

// As much of the name as fits into the box.
std::string fitting(const std::string& name, double width) {
  const auto room = static_cast<std::size_t>(std::max(0.0, width / kCharacterWidth - 1));
  return room < 3 ? "" : shortened(name, room);
}

std::string boxText(const CodeNode& node, const Box& box, TimeNs all_ns) {
  const double part = static_cast<double>(node.total_ns) / static_cast<double>(all_ns);
  const auto y = static_cast<int>(box.depth - 1) * kFlameRow;
  const std::string name = printable(shortened(node.name, kLongestName));
  return fmt::format(
      "<g><title>{}: {} ({})</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
      "fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.5\"/><text x=\"{:.1f}\" y=\"{}\" fill=\"#000\" "
      "font-size=\"11\">{}</text></g>\n",
      htmlEscaped(name), showDuration(static_cast<double>(node.total_ns)), showShare(part), box.x, y,
      box.width, kFlameRow - 1, colorOf(node), box.x + 3, y + 13, htmlEscaped(fitting(name, box.width)));
}

}  // namespace

std::string flameChart(const std::string& title, const std::vector<CodeNode>& tree) {
  if (tree.empty() || tree[0].total_ns <= 0) return "";
  const double scale = kFlameWidth / static_cast<double>(tree[0].total_ns);
  std::vector<Box> boxes(tree.size());
  boxes[0] = {.depth = 0, .x = 0, .width = kFlameWidth};
  std::string content;
  std::size_t deepest = 0;
  for (std::size_t i = 1; i < tree.size(); ++i) {
    Box& caller = boxes[tree[i].parent];
    Box& box = boxes[i];
    box = {.depth = caller.depth + 1,
           .x = caller.x + caller.filled,
           .width = static_cast<double>(tree[i].total_ns) * scale};
    caller.filled += box.width;
  }
  const double least = narrowest(boxes);
  for (std::size_t i = 1; i < tree.size(); ++i) {
    if (boxes[i].width < least || boxes[i].depth > kDeepest) continue;
    deepest = std::max(deepest, boxes[i].depth);
    content += boxText(tree[i], boxes[i], tree[0].total_ns);
  }
  return figure(title, kFlameWidth, static_cast<int>(deepest) * kFlameRow, content);
}

}  // namespace pitwall::emit
