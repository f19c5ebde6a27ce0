#include "analyzer/analysis/program_run.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "db/meta.h"

namespace pitwall::analysis {
namespace {

// A shorter sampled run shows little, and a failure within this time concerns the program's start, not its
// work.
constexpr TimeNs kShortRun = 1'000'000'000, kShortFailedRun = 10'000'000'000;
constexpr TimeNs kFailedAtOnce = 2'000'000'000;  // regardless of iterations
constexpr std::int64_t kEnoughIterations = 3;

std::optional<std::int64_t> integer(const std::vector<Fact>& facts, std::string_view key) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.key == key; });
  if (found == facts.end()) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&found->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace

void addRunFacts(const Trace& trace, std::vector<Fact>& facts) {
  const auto code = integer(facts, "exit_code"), signal = integer(facts, "exit_signal");
  const TimeNs run_ns = std::strtoll(trace.meta(meta::kTraceEndNs).value_or("0").c_str(), nullptr, 10);
  const bool ended = (code || signal) && run_ns > 0;
  facts.push_back({"run_ns", ended ? SqlValue(run_ns) : SqlValue()});
  const bool failed = signal || code.value_or(0) != 0;
  const bool repeats = integer(facts, "steady_iterations").value_or(0) >= kEnoughIterations;
  const bool too_short =
      (!repeats && run_ns < (failed ? kShortFailedRun : kShortRun)) || (failed && run_ns < kFailedAtOnce);
  facts.push_back({"too_short", ended ? SqlValue(static_cast<std::int64_t>(too_short)) : SqlValue()});
}

ProgramEnd programEnd(const std::vector<Fact>& facts) {
  ProgramEnd end;
  end.exit_code = integer(facts, "exit_code");
  end.exit_signal = integer(facts, "exit_signal");
  if (!end.exit_signal) end.exit_signal = integer(facts, "shell_signal");
  if (end.exit_signal) end.exit_code.reset();
  end.out_of_memory = integer(facts, "oom").value_or(0) != 0;
  end.too_short = integer(facts, "too_short").value_or(0) != 0;
  end.ran_ns = integer(facts, "run_ns").value_or(0);
  return end;
}

}  // namespace pitwall::analysis
