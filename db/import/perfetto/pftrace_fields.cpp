#include "db/import/perfetto/pftrace_fields.h"

#include <algorithm>
#include <iterator>

namespace pitwall::import {
namespace {

struct PacketField {
  std::uint32_t field;
  std::string_view name;
  bool kept;
};
constexpr PacketField kPacketFields[] = {
    {1, "ftrace events (scheduling, system calls)", false},
    {packet::kProcessTree, "process tree", true},
    {5, "inode file maps", false},
    {packet::kClockSnapshot, "clock snapshot", true},
    {7, "system statistics", false},
    {9, "process statistics", false},
    {packet::kTrackEvent, "track event", true},
    {packet::kInternedData, "interned data", true},
    {33, "trace configuration", true},
    {34, "ftrace statistics", true},
    {35, "trace statistics", true},
    {36, "synchronisation marker", true},
    {37, "heap profiles", false},
    {38, "battery counters", false},
    {39, "logs of Android", false},
    {40, "power rails", false},
    {packet::kProcessDescriptor, "process descriptor", true},
    {packet::kThreadDescriptor, "thread descriptor", true},
    {45, "system information", true},
    {46, "trigger", true},
    {47, "packages list", false},
    {packet::kCompressed, "compressed packets", true},
    {52, "GPU counters", false},
    {53, "GPU render stages", false},
    {54, "profiles of Chrome's sampler", false},
    {56, "heap graph", false},
    {57, "graphics frames", false},
    {packet::kDefaults, "defaults", true},
    {packet::kTrackDescriptor, "track descriptor", true},
    {66, "samples of call stacks (perf)", false},
    {69, "service event", true},
    {70, "perf descriptor", false},
    {89, "trace uuid", true},
};

const PacketField* findPacketField(std::uint32_t field) {
  const auto* found = std::find_if(std::begin(kPacketFields), std::end(kPacketFields),
                                   [&](const PacketField& known) { return known.field == field; });
  return found == std::end(kPacketFields) ? nullptr : found;
}

}  // namespace

std::string_view packetName(std::uint32_t field) {
  const PacketField* known = findPacketField(field);
  return known == nullptr ? std::string_view() : known->name;
}

bool isPacketFieldKept(std::uint32_t field) {
  const PacketField* known = findPacketField(field);
  return known != nullptr && known->kept;
}

}  // namespace pitwall::import
