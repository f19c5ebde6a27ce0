#include "analyzer/simulate/edit.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace pitwall::simulate {
namespace {

// What stands after the last '='.
enum class Number : std::uint8_t { factor, positive, count, times, word };

struct Form {
  const char* key;
  EditKind kind;
  Number number;
  const char* word;  // of Number::word, the only one
  EditHelp help;
};

constexpr Form kForms[] = {
    {"data_wait",
     EditKind::dataWait,
     Number::factor,
     nullptr,
     {"data_wait=F", "the training thread's time for getting batches, times F; 0 removes it"}},
    {"workers",
     EditKind::workers,
     Number::count,
     nullptr,
     {"workers=N", "N workers make the batches while the program trains"}},
    {"prefetch",
     EditKind::prefetch,
     Number::count,
     nullptr,
     {"prefetch=N", "up to N batches are ready before they are needed"}},
    {"op:",
     EditKind::operators,
     Number::factor,
     nullptr,
     {"op:REGEX=F", "operators, kernels, copies and calls whose name holds REGEX take F times as long"}},
    {"op:",
     EditKind::operators,
     Number::word,
     "roofline",
     {"op:REGEX=roofline", "they take what the machine's measured peak rates allow at least"}},
    {"threads", EditKind::threads, Number::count, nullptr, {"threads=N", "N threads run an operator"}},
    {"batch", EditKind::batch, Number::times, nullptr, {"batch=xF", "a batch has F times as many items"}},
    {"bulk", EditKind::bulk, Number::count, nullptr, {"bulk=N", "the engine starts N operators together"}},
    {"engine_workers",
     EditKind::engineWorkers,
     Number::count,
     nullptr,
     {"engine_workers=N", "the engine runs up to N operators side by side"}},
    {"launch",
     EditKind::launch,
     Number::factor,
     nullptr,
     {"launch=F", "calls that launch device work take F times as long"}},
    {"copies",
     EditKind::copies,
     Number::word,
     "async",
     {"copies=async", "copies to a device block the host no longer, and overlap with kernels"}},
    {"bandwidth",
     EditKind::bandwidth,
     Number::positive,
     nullptr,
     {"bandwidth=F", "copies and collectives move F times as many bytes per second"}},
    {"latency",
     EditKind::latency,
     Number::factor,
     nullptr,
     {"latency=F", "what a copy or collective takes beside its bytes, times F"}},
    {"ranks",
     EditKind::ranks,
     Number::count,
     nullptr,
     {"ranks=N", "N ranks take part in collectives, each with as much work as now"}},
};

std::optional<double> numberOf(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Nothing when the text is not such a number.
std::optional<double> valueOf(const Form& form, std::string_view text) {
  if (form.number == Number::word) return text == form.word ? std::optional(1.0) : std::nullopt;
  if (form.number == Number::times) {
    if (!text.starts_with('x')) return std::nullopt;
    text.remove_prefix(1);
  }
  const auto value = numberOf(text);
  if (!value || *value < 0) return std::nullopt;
  if (form.number == Number::count && (*value < 1 || *value > 4096 || *value != std::floor(*value)))
    return std::nullopt;
  if ((form.number == Number::positive || form.number == Number::times) && *value <= 0) return std::nullopt;
  return value;
}

std::string formsAsText() {
  std::string text;
  for (const auto& form : kForms) text += fmt::format("{}{}", text.empty() ? "" : ", ", form.help.form);
  return text;
}

}  // namespace

std::vector<EditHelp> editHelp() {
  std::vector<EditHelp> help;
  for (const auto& form : kForms) help.push_back(form.help);
  return help;
}

Result<Edit> parseEdit(std::string_view text) {
  const auto equals = text.rfind('=');
  const auto value = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const auto key = text.substr(0, equals);
  const Form* known = nullptr;
  for (const auto& form : kForms) {
    const std::string_view name = form.key;
    const bool has_pattern = name.ends_with(':');
    if (has_pattern ? !key.starts_with(name) || key.size() == name.size() : key != name) continue;
    known = &form;
    const auto number = valueOf(form, value);
    if (!number) continue;
    Edit edit{
        form.kind, std::string(text), {}, *number, form.kind == EditKind::operators && form.word != nullptr};
    if (has_pattern) edit.pattern = key.substr(name.size());
    return edit;
  }
  if (known != nullptr) {
    return fail(ErrorCode::invalidInput, fmt::format("'{}': '{}' is not a value of {}; F is a number from 0 "
                                                     "on, xF one after an x, N a whole number from 1 on",
                                                     text, value, known->help.form));
  }
  return fail(ErrorCode::invalidInput,
              fmt::format("'{}' is not a change that can be simulated; use one of {}", text, formsAsText()));
}

}  // namespace pitwall::simulate
