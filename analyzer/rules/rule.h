// A rule, as its TOML file says it. Everything a rule computes is SQL over the tables of
// docs/analysis_tables.md; there is no C++ per rule. The format is documented in rules/README.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report.h"

namespace pitwall::rules {

// A piece of a rule with its place in the file, for messages ("threads.toml:12").
struct Text {
  std::string text;
  std::string place;
  bool empty() const { return text.empty(); }
};

struct Threshold {
  std::string name;  // :threshold_<name> in SQL
  double value = 0;
  std::string unit;
  std::string source;   // who found it
  std::string meaning;  // what it decides
};

// What a threshold of that unit cannot be; none = it can.
std::optional<std::string> problemWith(double value, const std::string& unit);

struct Abstain {
  Text when;           // SQL expression over analysis_summary; true = abstain
  std::string reason;  // what is missing and what to record
};

// name is fixed; value, when and reason may use the columns of `measure`.
struct ProposalTemplate {
  std::string name;  // "OMP_NUM_THREADS", "PITWALL_TUNE_batch_size"
  Text value;        // SQL expression
  Text when;         // SQL expression; empty = always
  Text reason;       // template
};

struct Rule {
  std::string id;  // "input/bound"
  std::string title;
  std::string file;  // where it was read, for messages
  Text severity;     // a severity's name, or an SQL expression that yields one
  std::vector<Threshold> thresholds;
  int first = 0;  // 1, 2: its finding, where it is of high severity, comes before those without, in that
                  // order; 0 = by its gain
  std::vector<std::string> needs;  // what must have been recorded: analyzer/rules/needs.h
  std::vector<Abstain> abstains;
  Text measure;   // SQL; no row = silent; else one row of numbers
  Text verdict;   // template over its columns
  Text action;    // template; may be empty
  Text evidence;  // SQL rows to show; may be empty
  std::vector<ProposalTemplate> proposals;
  Text gain_low, gain_high;         // SQL expressions over its columns; empty = no gain claimed
  std::vector<std::string> claims;  // breakdown categories that the gain comes from
  Text gain_method;                 // template
  Text confidence;                  // low, medium, high, or an SQL expression that yields one
  bool gain_last = false;           // of a symptom: what findings about its causes leave of the time
  Text cost_share;                  // SQL expression: share of wall time; of findings without a gain
  Text cost;                        // template; empty = in words what cost_share yields
  Text guard;                       // template
};

}  // namespace pitwall::rules
