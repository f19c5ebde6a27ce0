#include "db/import/chrome/categories.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "db/import/input/text.h"

namespace pitwall::import {

const Category& Categories::of(const ChromeEvent& event) {
  static const Category kWithout;
  if (event.category.type != JsonType::string) return kWithout;
  const std::string_view text = event.category.text;
  Category* known = known_.find({0, text});
  if (known == nullptr) {
    Category fresh;
    fresh.count = &builder_.tally().record(fmt::format("category {}", text.substr(0, 64)));
    fresh.kineto = kinetoRoleOf(text);
    fresh.mxnet = mxNetRoleOf(text);
    const bool implied = (fresh.kineto != KinetoRole::none && fresh.kineto != KinetoRole::plain &&
                          text.find("driver") == std::string_view::npos) ||
                         fresh.mxnet == MxNetRole::operation || fresh.mxnet == MxNetRole::call;
    std::string clean;
    if (!implied && text.size() <= 256 && !appendClean(text, clean))
      fresh.args = builder_.names().args(fmt::format("{{\"category\":\"{}\"}}", clean));
    known = &known_.put({0, text}, fresh);
  }
  ++*known->count;
  return *known;
}

}  // namespace pitwall::import
