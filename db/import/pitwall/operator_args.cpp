#include "db/import/pitwall/operator_args.h"

#include <algorithm>

#include "db/import/input/json.h"
#include "db/import/input/text.h"

namespace pitwall::import {

std::string textArg(const ChromeEvent& event, std::string_view key) {
  const JsonValue value = event.arg(key);
  if (value.type != JsonType::string) return {};
  std::string clean;
  appendClean(unescape(value.text), clean);
  return clean;
}

std::int64_t integerArg(const ChromeEvent& event, std::string_view key) {
  const JsonValue value = event.arg(key);
  return value.isNumberOrString() ? parseInteger(value.text).value_or(0) : 0;
}

OperatorFacts operatorArgs(const ChromeEvent& event) {
  OperatorFacts facts;
  facts.layer = textArg(event, "layer");
  facts.shapes = textArg(event, "shapes");
  facts.dtype = textArg(event, "dtype");
  facts.backend = textArg(event, "backend");
  facts.implementation = textArg(event, "implementation");
  facts.phase = enumeratorOf(textArg(event, "phase"), Phase::data);
  facts.flop = integerArg(event, "flop");
  facts.bytes_read = integerArg(event, "bytes_read");
  facts.bytes_written = integerArg(event, "bytes_written");
  return facts;
}

bool hasOtherArgs(const ChromeEvent& event) {
  constexpr std::string_view kTaken[] = {"layer", "shapes", "dtype",      "backend",      "implementation",
                                         "phase", "flop",   "bytes_read", "bytes_written"};
  return std::any_of(event.args().begin(), event.args().end(), [&](const ChromeArg& arg) {
    return std::find(std::begin(kTaken), std::end(kTaken), arg.name) == std::end(kTaken);
  });
}

}  // namespace pitwall::import
