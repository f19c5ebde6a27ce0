// SARIF 2.1.0 (OASIS), which code hosts show next to the code of a pipeline.
#include <algorithm>
#include <cctype>
#include <map>

#include "analyzer/emit.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/units_text.h"

namespace pitwall {
namespace {

using emit::Cell;
using emit::Json;
using emit::JsonEmitter;

const char* levelOf(Severity severity) {
  switch (severity) {
    case Severity::high: return "error";
    case Severity::medium: return "warning";
    default: return "note";
  }
}

// A path as a relative or absolute URI reference.
std::string uriOf(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = !path.empty() && path.front() == '/' ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 15];
    }
  }
  return uri;
}

class SarifWriter {
 public:
  explicit SarifWriter(const Report& report) : report_(report) {}

  std::string write(const std::string& version) {
    out_.beginObject("", "", {});
    text("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    text("version", "2.1.0");
    out_.beginList("runs", "");
    object("");
    tool(version);
    invocation();
    results();
    out_.endObject();
    out_.endList();
    out_.endObject();
    return std::move(out_).take();
  }

 private:
  void object(std::string_view key) { out_.beginObject(key, "", {}); }
  void value(std::string_view key, Json json) { out_.field(key, "", {std::move(json), ""}); }
  void text(std::string_view key, const std::string& content) { value(key, content); }
  void message(std::string_view key, const std::string& content) {
    object(key);
    text("text", content);
    out_.endObject();
  }

  void rule(const std::string& id, const std::string& title, const std::string& help) {
    rules_.emplace(id, static_cast<std::int64_t>(rules_.size()));
    object("");
    text("id", id);
    message("shortDescription", title);
    if (!help.empty()) message("help", help);
    out_.endObject();
  }

  void tool(const std::string& version) {
    object("tool");
    object("driver");
    text("name", "Pitwall");
    text("version", version);
    out_.beginList("rules", "");
    for (const Finding& finding : report_.findings) {
      if (rules_.count(finding.id) == 0)
        rule(finding.id, finding.title, finding.guard.empty() ? "" : "Wrong if: " + finding.guard);
    }
    for (const Abstention& abstention : report_.abstentions) {
      if (rules_.count(abstention.id) == 0) rule(abstention.id, abstention.title, "");
    }
    out_.endList();
    out_.endObject();
    out_.endObject();
  }

  void notification(const char* level, const std::string& content, const std::string& rule_id) {
    object("");
    text("level", level);
    message("message", content);
    if (!rule_id.empty()) {
      object("associatedRule");
      text("id", rule_id);
      value("index", rules_.at(rule_id));
      out_.endObject();
    }
    out_.endObject();
  }

  // Rules that abstained, and what is known about the trace's quality.
  void invocation() {
    out_.beginList("invocations", "");
    object("");
    value("executionSuccessful", true);
    out_.beginList("toolExecutionNotifications", "");
    for (const std::string& note : report_.notes) notification("warning", note, "");
    for (const Abstention& abstention : report_.abstentions)
      notification("note", abstention.reason, abstention.id);
    out_.endList();
    out_.endObject();
    out_.endList();
  }

  void result(const Finding& finding) {
    object("");
    text("ruleId", finding.id);
    value("ruleIndex", rules_.at(finding.id));
    text("level", levelOf(finding.severity));
    std::string content = finding.verdict;
    for (const Proposal& proposal : finding.proposals)
      content += " Set " + proposal.name + "=" + proposal.proposed + " (now " + proposal.current + ").";
    message("message", content);
    out_.beginList("locations", "");
    object("");
    object("physicalLocation");
    object("artifactLocation");
    text("uri", uriOf(report_.trace_path));
    out_.endObject();
    object("region");
    value("startLine", std::int64_t{1});
    out_.endObject();
    out_.endObject();
    out_.endObject();
    out_.endList();
    object("partialFingerprints");
    text("pitwallRule/v1", finding.id);
    out_.endObject();
    object("properties");
    value("gainLow", finding.gain_low);
    value("gainHigh", finding.gain_high);
    text("gainMethod", finding.gain_method);
    text("status", toString(finding.status));
    out_.endObject();
    out_.endObject();
  }

  void results() {
    out_.beginList("results", "");
    for (const Finding& finding : report_.findings) result(finding);
    out_.endList();
  }

  const Report& report_;
  JsonEmitter out_;
  std::map<std::string, std::int64_t> rules_;
};

}  // namespace

std::string reportAsSarif(const Report& report, const std::string& version) {
  return SarifWriter(report).write(version);
}

}  // namespace pitwall
