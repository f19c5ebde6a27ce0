#include "analyzer/emit.h"
#include "analyzer/emit/charts.h"
#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/markdown_emitter.h"
#include "analyzer/emit/report_sections.h"
#include "analyzer/emit/text_emitter.h"

namespace pitwall {

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

std::string reportAsHtml(const Report& report, ReportDetail detail) {
  emit::HtmlEmitter emitter("Pitwall: " + report.trace_path, emit::chartsOf(report));
  emit::writeReport(report, detail, emitter);
  return std::move(emitter).take();
}

}  // namespace pitwall
