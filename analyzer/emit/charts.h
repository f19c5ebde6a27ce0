// Charts of a report as inline SVG. Colours come from the page; every chart has a title for those who cannot
// see it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/emit/html_emitter.h"
#include "analyzer/report.h"

namespace pitwall::emit {

// A drawing with its title; `content` is SVG.
std::string figure(const std::string& title, int width, int height, const std::string& content);

struct Bar {
  std::string label;
  double value = 0;
  std::string text;  // the value as people read it
};

// One bar of all parts side by side, with a legend; values are shares of the whole.
std::string stackedChart(const std::string& title, const std::vector<Bar>& parts);
// Bars one below the other.
std::string barChart(const std::string& title, const std::vector<Bar>& bars);

struct Span {
  std::string label;
  double low = 0, high = 0;
  std::string text;
};
// Intervals on a common scale from 0.
std::string spanChart(const std::string& title, const std::vector<Span>& spans);

// Functions below those that call them, as wide as their time; callers are above.
std::string flameChart(const std::string& title, const std::vector<CodeNode>& tree);

// All charts of a report, each before the part that it belongs to.
PageParts chartsOf(const Report& report);

}  // namespace pitwall::emit
