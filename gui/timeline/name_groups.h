// Names of events that differ only in numbers which mean nothing, such as "ProfilerStep#7" and "aten::add, op_id = 512",
// as one group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::gui {

// The name without what differs from event to event: "ProfilerStep#*", "aten::add". Left out: arguments such as
// ", op_id = 3", ", seq = 9" and "[12]"; replaced by "*": numbers after "#" and addresses (0x...).
std::string groupOfName(std::string_view name);

// The groups of some names.
struct NameGroups {
  std::vector<std::string> titles;      // of each group; [0] is that of the empty name
  std::vector<std::string> labels;      // short names of these; empty: each event shows its name
  std::vector<std::uint32_t> group_of;  // by place of the name
  std::vector<std::uint32_t> first;     // place of the first name of each group
  std::vector<std::uint32_t> sizes;     // how many names each group has
  bool any = false;                     // some group has several names, or another title than its name
};
NameGroups groupNames(const std::vector<std::string>& names);

}  // namespace pitwall::gui
