// Every rule over the traces beside it: tests/rules/<rule>/<case>.txt in, <case>.expected out. After a change
// that is meant, PITWALL_UPDATE_GOLDEN=1 writes the expectations anew: read their diff.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyzer/analysis.h"
#include "analyzer/rules/rule_set.h"
#include "db/reader.h"
#include "db/settings.h"
#include "tests/support/read_all.h"
#include "tests/support/trace_text.h"

namespace pitwall::rules_test {
namespace {

namespace fs = std::filesystem;
using test::readAll;

const fs::path kCases = PITWALL_RULE_CASES;
const fs::path kRules = PITWALL_RULE_FOLDER;

// The file of a rule: its id with '_' for '-'.
fs::path fileOf(std::string id) {
  std::replace(id.begin(), id.end(), '-', '_');
  return kRules / (id + ".toml");
}

void show(const Finding& finding, std::string& out) {
  out += fmt::format("finding {} {}\n{}\n", finding.id, toString(finding.severity), finding.verdict);
  std::string head;
  for (const auto& column : finding.evidence.columns) head += (head.empty() ? "" : " | ") + column;
  out += fmt::format("evidence, {} rows: {}\n", finding.evidence.total_rows, head);
  for (const auto& row : finding.evidence.rows) {
    std::string line;
    for (const auto& value : row) line += (line.empty() ? "" : " | ") + value;
    out += "  " + line + "\n";
  }
  for (const auto& p : finding.proposals) {
    out += fmt::format("propose {}: {} -> {}{}\n  {}\n", p.name, p.current, p.proposed,
                       p.user_set ? " (set by the user)" : "", p.reason);
  }
  if (!finding.gain_method.empty()) {
    out += fmt::format("gain {:.3f} to {:.3f}, {} confidence\n  {}\n", finding.gain_low, finding.gain_high,
                       toString(finding.confidence), finding.gain_method);
  }
  if (!finding.cost.empty()) out += fmt::format("cost {}\n", finding.cost);
  out += fmt::format("wrong if {}\n", finding.guard);
}

// Each setting is one that its reader knows, with a value that it takes; '' unsets it.
void expectUsableSettings(const Finding& finding) {
  for (const auto& p : finding.proposals) {
    const auto* info = findSetting(p.name);
    ASSERT_NE(info, nullptr) << finding.id << " proposes " << p.name;
    if (p.proposed.empty()) continue;
    const auto status = checkSettingValue(*info, p.proposed);
    EXPECT_TRUE(status.has_value()) << finding.id << ": " << status.error().message;
  }
  EXPECT_LE(finding.gain_low, finding.gain_high) << finding.id;
  EXPECT_GE(finding.gain_low, 0) << finding.id;
  EXPECT_LE(finding.gain_high, 1) << finding.id;
}

// Sums over the whole run alone are nowhere.
void expectPlaces(const Finding& finding) {
  const auto& evidence = finding.evidence;
  ASSERT_EQ(evidence.places.size(), evidence.rows.size()) << finding.id;
  if (evidence.rows.empty()) return;
  const std::string& first = evidence.columns[0];
  if (first == "category" || first == "threads" || first == "what") return;
  for (std::size_t i = 0; i < evidence.rows.size(); ++i) {
    const auto& place = evidence.places[i];
    EXPECT_TRUE(place.known()) << finding.id << ", evidence row " << i + 1;
    EXPECT_EQ(place.start_ns.has_value(), place.dur_ns.has_value()) << finding.id;
    EXPECT_GE(place.dur_ns.value_or(0), 0) << finding.id;
  }
}

// As `pitwall query` runs it: without thresholds.
void expectSqlThatRuns(const Finding& finding, Trace& trace) {
  const auto measured = trace.query(finding.sql.measure);
  ASSERT_TRUE(measured.has_value()) << finding.id << ": " << measured.error().message;
  EXPECT_FALSE(measured->rows.empty()) << finding.id;
  if (finding.sql.evidence.empty()) return;
  const auto evidence = trace.query(finding.sql.evidence);
  ASSERT_TRUE(evidence.has_value()) << finding.id << ": " << evidence.error().message;
  EXPECT_EQ(static_cast<std::int64_t>(evidence->rows.size()), finding.evidence.total_rows) << finding.id;
}

// What the rule alone says to the trace.
std::string answer(const std::string& id, const std::string& text) {
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("pitwall-rule-{}", getpid());
  fs::create_directories(folder);
  fs::copy_file(fileOf(id), folder / "rule.toml", fs::copy_options::overwrite_existing);
  const std::string path = (folder / "trace.pitwall").string();
  std::string out;
  if (auto status = test::makeTraceFile(text, path); !status.has_value()) out = status.error().message;
  if (auto trace = Trace::open(path); trace.has_value() && out.empty()) {
    auto report = analyzeTrace(*trace.value(), {{folder.string()}, {}});
    if (!report.has_value()) {
      out = report.error().message;
    } else {
      for (const auto& finding : report.value().findings) {
        show(finding, out);
        expectUsableSettings(finding);
        expectPlaces(finding);
        expectSqlThatRuns(finding, *trace.value());
      }
      for (const auto& a : report.value().abstentions)
        out += fmt::format("abstains {}\n{}\n", a.id, a.reason);
      for (const auto& silent : report.value().silent) out += fmt::format("silent {}\n", silent);
    }
  } else if (out.empty()) {
    out = trace.error().message;
  }
  fs::remove_all(folder);
  return out;
}

struct Case {
  std::string rule;  // "input/bound"
  std::string name;  // "fires"
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.rule << " " << c.name; }

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kCases)) {
    if (entry.path().extension() != ".txt" || entry.path().filename() == "CMakeLists.txt") continue;
    cases.push_back(
        {entry.path().parent_path().lexically_relative(kCases).string(), entry.path().stem().string()});
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return std::tie(a.rule, a.name) < std::tie(b.rule, b.name); });
  return cases;
}

class RuleCase : public testing::TestWithParam<Case> {};

TEST_P(RuleCase, SaysWhatIsExpected) {
  const auto& [rule, name] = GetParam();
  const auto stem = kCases / rule / name;
  const auto actual = answer(rule, readAll(stem.string() + ".txt"));
  // The name says what must come out, however the golden file was made.
  const std::string kind = name.substr(0, name.find('_'));
  const std::string first = kind == "fires" ? "finding " : kind == "silent" ? "silent " : "abstains ";
  EXPECT_EQ(actual.substr(0, first.size()), first) << actual;
  const auto expected_path = stem.string() + ".expected";
  if (std::getenv("PITWALL_UPDATE_GOLDEN") != nullptr)
    std::ofstream(expected_path, std::ios::binary) << actual;
  EXPECT_EQ(actual, readAll(expected_path));
}

std::string caseName(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.rule + "_" + info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleCase, testing::ValuesIn(allCases()), caseName);

TEST(Rules, EachHasACaseThatFiresOneThatIsSilentAndOneThatAbstains) {
  const auto set = rules::loadRules({{kRules.string()}, {}});
  ASSERT_TRUE(set.has_value()) << set.error().message;
  for (const auto& rule : set.value().rules) {
    for (const char* name : {"fires", "silent", "abstains"}) {
      EXPECT_TRUE(fs::exists(kCases / rule.id / fmt::format("{}.txt", name))) << rule.id << " " << name;
    }
  }
}

TEST(Rules, EachSaysWhatItBringsOrWhatItCosts) {
  const auto set = rules::loadRules({{kRules.string()}, {}});
  ASSERT_TRUE(set.has_value()) << set.error().message;
  for (const auto& rule : set.value().rules) {
    const bool says = !rule.gain_high.empty() || !rule.cost.empty() || !rule.cost_share.empty();
    EXPECT_TRUE(says || rule.id.rfind("quality/", 0) == 0) << rule.id;
  }
}

// A condition or an owner that can never hold would leave a setting out for good.
TEST(Rules, EverySettingIsProposedInSomeCase) {
  const auto set = rules::loadRules({{kRules.string()}, {}});
  ASSERT_TRUE(set.has_value()) << set.error().message;
  for (const auto& rule : set.value().rules) {
    std::string answers;
    for (const auto& entry : fs::directory_iterator(kCases / rule.id)) {
      if (entry.path().extension() == ".expected") answers += readAll(entry.path());
    }
    for (const auto& proposal : rule.proposals) {
      EXPECT_NE(answers.find("\npropose " + proposal.name + ": "), std::string::npos)
          << rule.id << " never proposes " << proposal.name;
    }
  }
}

// The library holds a copy of every rule; one that is not listed in the build would never run.
TEST(Rules, EveryFileIsBuiltIn) {
  std::vector<std::string> files, built_in;
  for (const auto& entry : fs::recursive_directory_iterator(kRules)) {
    if (entry.path().extension() == ".toml") files.push_back(fs::relative(entry.path(), kRules).string());
  }
  for (const auto& rule : rules::embeddedRules()) built_in.emplace_back(rule.name);
  std::sort(files.begin(), files.end());
  std::sort(built_in.begin(), built_in.end());
  EXPECT_EQ(built_in, files);
}

// A predicted gain states its upper bound.
TEST(Rules, EachGainStatesItsBound) {
  const auto set = rules::loadRules({{kRules.string()}, {}});
  ASSERT_TRUE(set.has_value()) << set.error().message;
  for (const auto& rule : set.value().rules) {
    if (rule.gain_high.empty()) continue;
    const bool states = rule.gain_method.text.find("t most ") != std::string::npos ||
                        rule.gain_method.text.find("{high_case}") != std::string::npos;
    EXPECT_TRUE(states) << rule.id << " states no bound";
  }
}

TEST(Rules, EveryPieceOfSqlAndEveryTemplateIsRight) {
  for (const auto& entry : fs::recursive_directory_iterator(kRules)) {
    if (entry.path().extension() != ".toml") continue;
    const auto status = checkRuleFile(entry.path().string());
    EXPECT_TRUE(status.has_value()) << status.error().message;
  }
}

}  // namespace
}  // namespace pitwall::rules_test
