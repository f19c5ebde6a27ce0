#include <utility>

#include "analyzer/emit.h"
#include "analyzer/emit/charts.h"
#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/markdown_emitter.h"
#include "analyzer/emit/report_sections.h"
#include "analyzer/emit/text_emitter.h"
#include "analyzer/emit/timeline_section.h"

namespace pitwall {
namespace {

constexpr std::size_t kTimelineBytes = 800'000;

}  // namespace

std::string reportAsText(const Report& report, TextOptions options, ReportDetail detail) {
  emit::TextEmitter emitter(options);
  emit::writeReport(report, detail, emitter);
  return std::move(emitter).take();
}

std::string reportAsJson(const Report& report) {
  emit::JsonEmitter emitter;
  emit::writeReport(report, {}, emitter);
  return std::move(emitter).take();
}

std::string reportAsMarkdown(const Report& report, ReportDetail detail) {
  emit::MarkdownEmitter emitter;
  emit::writeReport(report, detail, emitter);
  return "# Pitwall report\n\n" + std::move(emitter).take();
}

std::string reportAsHtml(const Report& report, ReportDetail detail, const ReportTimeline& timeline) {
  emit::PageParts parts = emit::chartsOf(report);
  parts.before["findings"] += emit::timelineSection(timeline, kTimelineBytes);
  parts.places = emit::placeNames(timeline);
  emit::HtmlEmitter emitter("Pitwall: " + report.trace_path, std::move(parts));
  emit::writeReport(report, detail, emitter);
  return std::move(emitter).take();
}

}  // namespace pitwall
