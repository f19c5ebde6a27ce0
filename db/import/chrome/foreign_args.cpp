#include "db/import/chrome/foreign_args.h"

#include <algorithm>
#include <span>
#include <string>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kDistinct = 4096;
constexpr std::size_t kLongest = 1024;

// Whether each argument is valid JSON, so that the text can be kept unchanged.
bool allComplete(std::span<const ChromeArg> args) {
  return std::all_of(args.begin(), args.end(), [](const ChromeArg& arg) {
    return arg.value.type != JsonType::null || arg.value.text == "null";
  });
}

}  // namespace

std::optional<StringId> ForeignArgs::keep(const ChromeEvent& event) {
  if (event.args_text.size() > kLongest) return std::nullopt;
  if (const StringId* known = known_.find({0, event.args_text})) return *known;
  if (distinct_ >= kDistinct || !allComplete(event.args())) return std::nullopt;
  std::string clean;
  if (appendClean(compact(event.args_text), clean)) return std::nullopt;
  ++distinct_;
  return known_.put({0, event.args_text}, builder_.names().args(clean));
}

}  // namespace pitwall::import
