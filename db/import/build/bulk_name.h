// Names of several operators that MXNet runs as one: "[Convolution,Activation,]" of an executor, "Convolution,Activation" of a
// static block.
#pragma once

#include <algorithm>
#include <string_view>

namespace pitwall::import {

// Calls `visit` with each operator's name; with the whole name where it is one operator's.
template <class Visit>
void eachOfBulk(std::string_view name, Visit visit) {
  if (name.starts_with('[')) name.remove_prefix(1);
  if (name.ends_with(']')) name.remove_suffix(1);
  while (!name.empty()) {
    const std::size_t size = std::min(name.find(','), name.size());
    if (size > 0) visit(name.substr(0, size));
    name.remove_prefix(std::min(size + 1, name.size()));
  }
}

}  // namespace pitwall::import
