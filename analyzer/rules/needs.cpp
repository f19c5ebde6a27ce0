#include "analyzer/rules/needs.h"

#include <algorithm>
#include <iterator>

namespace pitwall::rules {
namespace {

constexpr Need kNeeds[] = {
    {"devices", "has_devices", "no work of a device was recorded; record the device's activity too."},
    {"iterations", "steady_iterations >= 3", "fewer than 3 steady iterations; record at least 6."},
    {"library calls", "has_library_calls OR has_operators",
     "neither operators nor calls of a library were recorded; record with 'pitwall record --onednn', or with "
     "the "
     "framework's profiler."},
    {"operators", "has_operators",
     "the program's operators were not recorded, so time between them cannot be distinguished from work; "
     "record with "
     "the "
     "framework's profiler and open its file."},
    {"stacks", "EXISTS (SELECT 1 FROM analysis_code)",
     "stacks were not sampled; record with 'pitwall record', without '--stacks off'."},
    {"samples", "has_samples", "the threads' use of CPUs was not sampled; record with 'pitwall record'."},
};

}  // namespace

const Need* findNeed(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kNeeds), std::end(kNeeds), [&](const Need& need) { return need.name == name; });
  return found == std::end(kNeeds) ? nullptr : found;
}

std::string namesOfNeeds() {
  std::string names;
  for (const Need& need : kNeeds) names += (names.empty() ? "" : ", ") + std::string(need.name);
  return names;
}

}  // namespace pitwall::rules
