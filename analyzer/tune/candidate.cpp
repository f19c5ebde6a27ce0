#include "analyzer/tune/candidate.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "db/settings.h"

namespace pitwall::tuning {
namespace {

constexpr std::int64_t kMostValues = 10'000;
constexpr std::size_t kAllAtOnce = 5;  // of a range; longer ones are tried at growing distances first

std::optional<std::int64_t> integerFrom(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

Failure badParameter(std::string_view text, const char* why) {
  return fail(ErrorCode::invalidInput,
              fmt::format("--param {}: {}; write NAME=1..8 or NAME=16,32,64", text, why));
}

Result<std::vector<std::string>> rangeFrom(std::string_view text, std::string_view least,
                                           std::string_view most) {
  const auto low = integerFrom(least), high = integerFrom(most);
  if (!low || !high) return badParameter(text, "a range has two integers");
  if (*high <= *low) return badParameter(text, "a range goes from the smaller to the larger number");
  if (*high - *low >= kMostValues) return badParameter(text, "a range has at most 10000 values");
  std::vector<std::string> values;
  for (std::int64_t value = *low; value <= *high; ++value) values.push_back(std::to_string(value));
  return values;
}

Candidate candidateOf(const Parameter& parameter, const std::string& value) {
  Candidate candidate;
  candidate.settings = {{parameter.name, value}};
  return withGroupOf(parameter, std::move(candidate));
}

// 1 2 4 8 16: the first, the last, and between them ever larger steps.
std::vector<std::string> spread(const std::vector<std::string>& values) {
  std::vector<std::string> chosen;
  const double last = static_cast<double>(values.size() - 1);
  for (std::size_t i = 0; i < kAllAtOnce; ++i) {
    const double at = std::pow(last + 1, static_cast<double>(i) / static_cast<double>(kAllAtOnce - 1)) - 1;
    const std::string& value = values[static_cast<std::size_t>(std::lround(std::min(at, last)))];
    if (chosen.empty() || chosen.back() != value) chosen.push_back(value);
  }
  return chosen;
}

Limits limitsOf(const std::string& name, const std::map<std::string, Limits>& tunables) {
  if (const auto found = tunables.find(name); found != tunables.end()) return found->second;
  Limits limits{1, 1e9};
  const SettingInfo* info = findSetting(name);
  if (info == nullptr) return limits;
  const std::string_view allowed = info->allowed;
  const std::size_t dots = allowed.find("..");
  if (dots == std::string_view::npos) return limits;
  if (const auto least = integerFrom(allowed.substr(0, dots))) limits.least = static_cast<double>(*least);
  if (const auto most = integerFrom(allowed.substr(dots + 2))) limits.greatest = static_cast<double>(*most);
  return limits;
}

void addNeighbours(const Candidate& proposed, const Proposal& proposal,
                   const std::map<std::string, Limits>& limits, std::vector<Candidate>& candidates) {
  const auto value = integerFrom(proposal.proposed);
  if (!value || *value < 1) return;  // a switch, or a word
  const SettingInfo* info = findSetting(proposal.name);
  const bool is_tunable = limits.contains(proposal.name);
  if (!is_tunable && info != nullptr && info->type != SettingType::integer) return;
  const Limits allowed = limitsOf(proposal.name, limits);
  for (const std::int64_t other : {*value / 2, *value * 2}) {
    const auto number = static_cast<double>(other);
    if (number < std::max(1.0, allowed.least) || number > allowed.greatest) continue;
    if (std::to_string(other) == proposal.current) continue;
    Candidate neighbour;
    neighbour.settings = {{proposal.name, std::to_string(other)}};
    neighbour.group = proposed.group;
    candidates.push_back(std::move(neighbour));
  }
}

}  // namespace

Candidate withGroupOf(const Parameter& parameter, Candidate candidate) {
  candidate.group = parameter.name;
  if (const auto number = integerFrom(candidate.settings.begin()->second); parameter.is_range && number)
    candidate.number = static_cast<double>(*number);
  return candidate;
}

std::string textOf(const Assignments& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text.empty() ? "unchanged" : text;
}

Result<Parameter> parameterFrom(std::string_view text, const std::vector<std::string>& command) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return badParameter(text, "a name, '=' and values are needed");
  Parameter parameter;
  parameter.name = text.substr(0, equals);
  const std::string_view values = text.substr(equals + 1);
  const std::string word = "{" + parameter.name + "}";
  parameter.in_command = std::ranges::any_of(
      command, [&](const std::string& argument) { return argument.find(word) != std::string::npos; });
  if (const std::size_t dots = values.find(".."); dots != std::string_view::npos) {
    auto range = rangeFrom(text, values.substr(0, dots), values.substr(dots + 2));
    if (!range.has_value()) return fail(range.error());
    parameter.values = std::move(range).value();
    parameter.is_range = true;
    return parameter;
  }
  for (std::size_t at = 0; at <= values.size();) {
    const std::size_t comma = std::min(values.find(',', at), values.size());
    const std::string value(values.substr(at, comma - at));
    if (value.empty()) return badParameter(text, "a value is empty");
    if (std::ranges::find(parameter.values, value) != parameter.values.end())
      return badParameter(text, "a value is given twice");
    parameter.values.push_back(value);
    at = comma + 1;
  }
  if (parameter.in_command && parameter.values.size() < 2)
    return badParameter(text, "the first value is the unchanged program's, so two are needed");
  return parameter;
}

std::vector<Candidate> candidatesOf(const Parameter& parameter, const std::string& current) {
  const bool is_long = parameter.is_range && parameter.values.size() > kAllAtOnce;
  std::vector<Candidate> candidates;
  for (const std::string& value : is_long ? spread(parameter.values) : parameter.values) {
    if (value != current) candidates.push_back(candidateOf(parameter, value));
  }
  return candidates;
}

std::vector<Candidate> between(const Parameter& parameter, double number, const std::vector<double>& tried) {
  std::vector<Candidate> candidates;
  if (!parameter.is_range) return candidates;
  const double least = static_cast<double>(integerFrom(parameter.values.front()).value_or(0));
  const double most = static_cast<double>(integerFrom(parameter.values.back()).value_or(0));
  double below = least - 1, above = most + 1;
  for (const double other : tried) {
    if (other < number) below = std::max(below, other);
    if (other > number) above = std::min(above, other);
  }
  for (const double value : {std::ceil((number + below) / 2), std::floor((number + above) / 2)}) {
    if (value <= below || value >= above || value == number) continue;
    candidates.push_back(candidateOf(parameter, std::to_string(static_cast<std::int64_t>(value))));
  }
  return candidates;
}

std::vector<Candidate> candidatesOf(const Report& report, const std::map<std::string, Limits>& limits,
                                    std::vector<std::string>& notes) {
  std::vector<Candidate> candidates;
  std::set<Assignments> known;
  for (const Finding& finding : report.findings) {
    Candidate candidate;
    const Proposal* changed = nullptr;
    for (const Proposal& proposal : finding.proposals) {
      if (proposal.user_set) {
        notes.push_back(fmt::format("{} is not tried: you set it to {} ({} proposes {})", proposal.name,
                                    proposal.current, finding.id, proposal.proposed));
        continue;
      }
      candidate.settings[proposal.name] = proposal.proposed;
      changed = &proposal;
    }
    if (changed == nullptr) continue;
    const bool is_whole = candidate.settings.size() == finding.proposals.size();
    candidate.group = finding.id;
    candidate.rule = finding.id;
    if (is_whole) {
      candidate.gain_low = finding.gain_low;
      candidate.gain_high = finding.gain_high;
      candidate.gain_method = finding.gain_method;
    }
    if (!known.insert(candidate.settings).second) continue;
    candidates.push_back(candidate);
    if (candidate.settings.size() == 1) addNeighbours(candidate, *changed, limits, candidates);
  }
  return candidates;
}

}  // namespace pitwall::tuning
