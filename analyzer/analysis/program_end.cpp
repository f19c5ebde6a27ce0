// How the recorded program ended, as far as it was recorded.
#include <charconv>
#include <optional>

#include "analyzer/analysis/device_tables.h"
#include "db/meta.h"

namespace pitwall::analysis {
namespace {

constexpr std::int64_t kKill = 9;         // SIGKILL
constexpr std::int64_t kShellBase = 128;  // a shell gives 128 + signal as its own exit code
constexpr std::int64_t kLastSignal = 64;

std::optional<std::int64_t> numberOf(const Trace& trace, const char* key) {
  const auto text = trace.meta(key);
  std::int64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

SqlValue fact(const std::optional<std::int64_t>& value) { return value ? SqlValue(*value) : SqlValue(); }

}  // namespace

void addEndFacts(const Trace& trace, std::vector<Fact>& facts) {
  auto signal = numberOf(trace, meta::kExitSignal);
  // Together with a signal, a code of 0 is meaningless.
  const auto code = signal ? std::nullopt : numberOf(trace, meta::kExitCode);
  const bool of_shell = code && *code > kShellBase && *code <= kShellBase + kLastSignal;
  const auto group = numberOf(trace, meta::kOomKills), host = numberOf(trace, meta::kHostOomKills);
  const auto kills = group ? group : host;
  const bool killed = signal == kKill || (of_shell && *code == kShellBase + kKill);
  SqlValue oom;
  if (signal || code) {
    if (!killed) oom = std::int64_t{0};
    if (killed && kills) oom = static_cast<std::int64_t>(*kills > 0);
  }
  facts.push_back({"exit_code", fact(code)});
  facts.push_back({"exit_signal", fact(signal)});
  facts.push_back({"shell_signal", of_shell ? SqlValue(*code - kShellBase) : SqlValue()});
  facts.push_back({"oom", oom});
  facts.push_back({"oom_kills", fact(kills)});
}

}  // namespace pitwall::analysis
