#include "runtime/profiler/inject/environment.h"

#include <cmath>
#include <cstdlib>

#include "db/launched_rank.h"

namespace pitwall::inject {

namespace {

std::optional<double> seconds(const char* text) {
  if (text == nullptr || *text == '\0') return {};
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(value) || value < 0) return {};
  return value;
}

}  // namespace

Environment readEnvironment(const std::function<const char*(const char*)>& get) {
  Environment environment;
  const auto text = [&get](const char* name) {
    const char* const value = get(name);
    return std::string(value == nullptr ? "" : value);
  };
  environment.path_template = text("PITWALL_TRACE");
  if (environment.path_template.empty()) environment.path_template = "pitwall-%p.pitwall";
  environment.only = text("PITWALL_RECORD_ONLY");
  environment.last_s = seconds(get("PITWALL_RECORD_LAST"));
  environment.until_s = seconds(get("PITWALL_RECORD_UNTIL"));
  environment.rank = launchedRank(get).value_or(0);
  return environment;
}

}  // namespace pitwall::inject
