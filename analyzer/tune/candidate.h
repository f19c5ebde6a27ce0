// What a search tries: settings beside those of the unchanged program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report.h"
#include "db/result.h"

namespace pitwall::tuning {

// Variables of the environment, or the words {NAME} of the command line, by name.
using Assignments = std::map<std::string, std::string>;

// "A=1 B=2"; "unchanged" for none.
std::string textOf(const Assignments& settings);

struct Candidate {
  Assignments settings;  // empty: the unchanged program
  std::string group;     // at most one candidate of a group is kept: a rule's id, or the name of a parameter
  std::string rule;      // that proposes exactly these settings; empty = none
  double gain_low = 0,
         gain_high = 0;  // that the rule predicts: the share of wall time removed; 0 and 0 = no prediction
  std::string gain_method;
  std::optional<double> number;  // the value, where the group is a range of numbers
  // Candidates that a combination consists of: places in the search's list. Empty for a single one.
  std::vector<std::size_t> parts = {};
};

// A parameter that the user gives: NAME=1..8 (integers), NAME=16,32,64 or NAME=0.1,0.5.
struct Parameter {
  std::string name;
  std::vector<std::string> values;  // of a range all integers, ascending
  bool is_range = false;            // an order in which values between two others are worth a trial
  bool in_command = false;  // {NAME} is in the command line; the first value is that of the unchanged program
};

// Errors: invalidInput for text that is no parameter, an empty or very long range, a name without use.
Result<Parameter> parameterFrom(std::string_view text, const std::vector<std::string>& command);

// The candidates of a parameter: its values, of long ranges those at growing distances. `current` is the value that the
// unchanged program has; empty = unknown.
std::vector<Candidate> candidatesOf(const Parameter& parameter, const std::string& current);

// As one more value of `parameter`, whose variable is the only one that it sets.
Candidate withGroupOf(const Parameter& parameter, Candidate candidate);

// The values of a range beside `number` that are halfway to the next tried one: none where all are tried.
std::vector<Candidate> between(const Parameter& parameter, double number, const std::vector<double>& tried);

// A tunable's limits, by the name of its variable.
struct Limits {
  double least = 0, greatest = 0;
};

// Each finding's proposals together, and for a finding with one number that number halved and doubled. Settings that the user
// has set are not tried; `notes` says so.
std::vector<Candidate> candidatesOf(const Report& report, const std::map<std::string, Limits>& limits,
                                    std::vector<std::string>& notes);

}  // namespace pitwall::tuning
