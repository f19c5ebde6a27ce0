#include "analyzer/emit.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/report_walk.h"
#include "analyzer/emit/text_emitter.h"

namespace pitwall {

std::string reportAsText(const Report& report, TextOptions options) {
  emit::TextEmitter emitter(options);
  emit::walkReport(report, emitter);
  return std::move(emitter).take();
}

std::string reportAsJson(const Report& report) {
  emit::JsonEmitter emitter;
  emit::walkReport(report, emitter);
  return std::move(emitter).take();
}

}  // namespace pitwall
