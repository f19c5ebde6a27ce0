#include "analyzer/emit/charts.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/utf8.h"
#include "analyzer/units_text.h"

namespace pitwall::emit {
namespace {

constexpr int kWidth = 760;
constexpr int kChartLabelWidth = 270;
constexpr int kValueWidth = 130;
constexpr int kRow = 22;
constexpr std::size_t kMostBars = 12;
constexpr std::size_t kLongestLabel = 40, kLongestTitle = 300;

// Distinguishable with colour vision deficiencies too; the last ones repeat.
constexpr const char* kColors[] = {"#4878cf", "#ee854a", "#6acc64", "#d65f5f", "#956cb4",
                                   "#8c613c", "#dc7ec0", "#797979", "#d5bb67", "#82c6e2"};

const char* color(std::size_t index) { return kColors[index % std::size(kColors)]; }

std::string shortLabel(const std::string& label) { return shortened(printable(label), kLongestLabel); }

std::string label(int y, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kChartLabelWidth - 8, y + 15,
                     htmlEscaped(shortLabel(text)));
}

}  // namespace

std::string figure(const std::string& title, int width, int height, const std::string& content) {
  return fmt::format(
      "<figure><figcaption>{0}</figcaption>\n<svg role=\"img\" viewBox=\"0 0 {1} {2}\" width=\"{1}\" "
      "height=\"{2}\"><title>{0}</title>\n{3}</svg></figure>\n",
      htmlEscaped(title), width, height, content);
}

std::string stackedChart(const std::string& title, const std::vector<Bar>& parts) {
  std::string content;
  double at = 0;
  int legend_y = 52;
  int legend_x = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double width = std::max(0.0, parts[i].value) * kWidth;
    content += fmt::format(
        "<rect x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"30\" fill=\"{}\"><title>{}: "
        "{}</title></rect>\n",
        at, width, color(i), htmlEscaped(shortened(parts[i].label, kLongestTitle)),
        htmlEscaped(parts[i].text));
    at += width;
    if (legend_x + 240 > kWidth) legend_x = 0, legend_y += kRow;
    content += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{} "
        "{}</text>\n",
        legend_x, legend_y - 11, color(i), legend_x + 18, legend_y, htmlEscaped(shortLabel(parts[i].label)),
        htmlEscaped(parts[i].text));
    legend_x += 250;
  }
  return figure(title, kWidth, legend_y + 10, content);
}

std::string barChart(const std::string& title, const std::vector<Bar>& bars) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  const double scale = most > 0 ? (kWidth - kChartLabelWidth - kValueWidth) / most : 0;
  std::string content;
  int y = 0;
  for (std::size_t i = 0; i < std::min(bars.size(), kMostBars); ++i, y += kRow) {
    const double width = std::max(1.0, bars[i].value * scale);
    content += label(y, bars[i].label);
    content += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" fill=\"{}\"><title>{}</title></rect>"
        "<text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
        kChartLabelWidth, y + 3, width, color(0), htmlEscaped(shortened(bars[i].label, kLongestTitle)),
        kChartLabelWidth + width + 6, y + 15, htmlEscaped(bars[i].text));
  }
  return figure(title, kWidth, y + 4, content);
}

std::string spanChart(const std::string& title, const std::vector<Span>& spans) {
  double most = 0;
  for (const Span& span : spans) most = std::max(most, span.high);
  const double scale = most > 0 ? (kWidth - kChartLabelWidth - kValueWidth) / most : 0;
  std::string content;
  int y = 0;
  for (std::size_t i = 0; i < std::min(spans.size(), kMostBars); ++i, y += kRow) {
    const double from = kChartLabelWidth + spans[i].low * scale;
    const double width = std::max(2.0, (spans[i].high - spans[i].low) * scale);
    content += label(y, spans[i].label);
    content += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2:.1f}\" y2=\"{1}\" stroke=\"currentColor\" "
        "opacity=\"0.25\"/><rect "
        "x=\"{2:.1f}\" y=\"{3}\" width=\"{4:.1f}\" height=\"10\" fill=\"{5}\"/><text x=\"{6:.1f}\" "
        "y=\"{7}\">{8}</text>\n",
        kChartLabelWidth, y + 11, from, y + 6, width, color(1), from + width + 6, y + 15,
        htmlEscaped(spans[i].text));
  }
  return figure(title, kWidth, y + 4, content);
}

PageParts chartsOf(const Report& report) {
  PageParts charts;
  std::vector<Bar> parts;
  for (const TimeShare& share : report.breakdown.shares)
    if (share.share > 0) parts.push_back({share.category, share.share, showShare(share.share)});
  if (!parts.empty()) charts.before["findings"] += stackedChart("Where the time goes", parts);
  std::vector<Span> gains;
  for (const Finding& finding : report.findings) {
    if (finding.gain_high < 0.0005) continue;
    gains.push_back({finding.title, finding.gain_low, finding.gain_high,
                     fmt::format("{} to {}", showShare(finding.gain_low), showShare(finding.gain_high))});
  }
  if (!gains.empty())
    charts.before["findings"] +=
        spanChart("Share of the time that each finding is predicted to remove", gains);
  const auto timeOf = [&report](const OperatorRow& row) {
    return static_cast<double>(row.orderedBy(report.operator_order));
  };
  double all = 0;
  for (const OperatorRow& row : report.operators) all += timeOf(row);
  std::vector<Bar> operators;
  for (const OperatorRow& row : report.operators) {
    const double share = all > 0 ? timeOf(row) / all : 0;
    operators.push_back({row.phase == "none" ? row.title : row.title + " " + row.phase, share,
                         fmt::format("{} ({})", showDuration(timeOf(row)), showShare(share))});
  }
  if (!operators.empty())
    charts.before["operators"] += barChart(report.operator_order == OperatorOrder::deviceTime
                                               ? "Operators by the device time that they launch"
                                               : "Operators by the time that they take themselves",
                                           operators);
  if (report.code.tree.size() > 1)
    charts.before["code"] += flameChart("Sampled functions, below those that call them", report.code.tree);
  return charts;
}

}  // namespace pitwall::emit
