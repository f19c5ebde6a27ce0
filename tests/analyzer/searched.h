// Programs that a search tries in place of real ones: a function from settings to a rate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/tune/search.h"

namespace pitwall::test {

using ProgramModel = std::function<tuning::RunResult(const tuning::Assignments&)>;

inline std::vector<tuning::Parameter> parametersOf(const std::vector<std::string>& texts) {
  std::vector<tuning::Parameter> parameters;
  for (const std::string& text : texts) parameters.push_back(tuning::parameterFrom(text, {}).value());
  return parameters;
}

inline std::vector<tuning::Candidate> candidatesFor(const std::vector<tuning::Parameter>& parameters) {
  std::vector<tuning::Candidate> all(1);
  for (const tuning::Parameter& parameter : parameters) {
    for (tuning::Candidate& candidate : candidatesOf(parameter, "")) all.push_back(std::move(candidate));
  }
  return all;
}

inline tuning::Search searchOver(const std::vector<std::string>& texts, tuning::SearchOptions options = {}) {
  options.parameters = parametersOf(texts);
  return {candidatesFor(options.parameters), options};
}

struct Made {
  tuning::Run run;
  tuning::RunResult result;
};

inline std::vector<Made> finish(tuning::Search& search, const ProgramModel& program) {
  std::vector<Made> made;
  while (const auto run = search.next()) {
    const tuning::RunResult result = program(search.candidates()[run->candidate].settings);
    made.push_back({*run, result});
    search.add(result);
    if (made.size() > 2000) break;
  }
  return made;
}

inline double numberOf(const tuning::Assignments& settings, const std::string& name, double otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : std::stod(found->second);
}

inline tuning::RunResult rate(double value) {
  tuning::RunResult result;
  result.rate = value;
  result.seconds = 1;
  return result;
}

}  // namespace pitwall::test
