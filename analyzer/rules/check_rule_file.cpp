#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "analyzer/analysis.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/run_rule.h"
#include "db/store.h"

namespace pitwall {
namespace {

// An empty trace with the analysis tables written, gone when this object is.
class EmptyTrace {
 public:
  EmptyTrace()
      : path_((std::filesystem::temp_directory_path() / fmt::format("pitwall-check-{}.pitwall", getpid()))
                  .string()) {}
  ~EmptyTrace() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  EmptyTrace(const EmptyTrace&) = delete;
  EmptyTrace& operator=(const EmptyTrace&) = delete;

  Result<std::unique_ptr<Trace>> open() {
    auto sink = createTrace(path_);
    if (!sink.has_value()) return fail(sink.error());
    if (auto status = sink.value()->finish(); !status.has_value()) return fail(status.error());
    auto trace = Trace::open(path_);
    if (!trace.has_value()) return trace;
    // Writes the analysis tables, for which any set of rules does.
    if (auto report = analyzeTrace(*trace.value()); !report.has_value()) return fail(report.error());
    return trace;
  }

 private:
  std::string path_;
};

}  // namespace

Status checkRuleFile(const std::string& path) {
  auto rule = rules::readRuleFile(path);
  if (!rule.has_value()) return fail(rule.error());
  EmptyTrace empty;
  auto trace = empty.open();
  if (!trace.has_value()) return fail(trace.error());
  return rules::checkRule(rule.value(), *trace.value());
}

}  // namespace pitwall
