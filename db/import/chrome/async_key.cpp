#include "db/import/chrome/async_key.h"

#include <functional>
#include <initializer_list>
#include <string_view>

#include "db/import/input/recent_texts.h"

namespace pitwall::import {

std::uint64_t asyncKey(const ChromeEvent& event) {
  const char ph = event.ph();
  const auto key = [](std::initializer_list<std::string_view> parts) {
    std::uint64_t hash = 0;
    for (const std::string_view part : parts) hash = mixed(hash, std::hash<std::string_view>{}(part));
    return hash | 1;
  };
  const std::string_view category = event.category.text;
  if (ph == '(' || ph == ')') return key({"(", category, event.name.text, event.thread.text});
  // Old style pairs (S, T, p, F) match by name too; the nestable style (b, n, e) by category, id and scope
  // only.
  const bool old_style = ph == 'S' || ph == 'T' || ph == 'p' || ph == 'F';
  const std::string_view name = old_style ? event.name.text : std::string_view();
  const auto byId = [&](std::string_view id, std::string_view where) {
    return id.empty() ? 0 : key({where, category, event.scope.text, name, id});
  };
  if (event.id_local.isNumberOrString()) return byId(event.id_local.text, event.process.text);
  if (event.id_global.isNumberOrString()) return byId(event.id_global.text, "");
  if (event.id.isNumberOrString()) return byId(event.id.text, "");
  return 0;
}

}  // namespace pitwall::import
