// The numbers of the fields of Perfetto's messages that are read (protos/perfetto/trace/).
#pragma once

#include <cstdint>
#include <string_view>

namespace pitwall::import {

namespace packet {  // TracePacket
inline constexpr std::uint32_t kProcessTree = 2, kUid = 3, kClockSnapshot = 6, kTimestamp = 8, kSequence = 10,
                               kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13, kStateCleared = 41,
                               kPreviousDropped = 42, kProcessDescriptor = 43, kThreadDescriptor = 44,
                               kCompressed = 50, kClock = 58, kDefaults = 59, kTrackDescriptor = 60,
                               kTrustedPid = 79, kFirstOnSequence = 87;
}  // namespace packet

namespace track_event {
inline constexpr std::uint32_t kDeltaUs = 1, kCategoryIds = 3, kAnnotation = 4, kLegacy = 6, kType = 9,
                               kNameId = 10, kTrack = 11, kAbsoluteUs = 16, kCategoryText = 22, kName = 23,
                               kCounter = 30, kExtraCounters = 31, kOldFlow = 36, kOldLastFlow = 42,
                               kRealCounter = 44, kExtraRealCounters = 45, kFlow = 47, kLastFlow = 48;
enum Type : std::uint8_t { none = 0, begin = 1, end = 2, instant = 3, counter = 4 };
}  // namespace track_event

// What a packet's field holds, for messages: "ftrace events"; empty when it is not known. `kept` fields are
// read or say nothing about the program.
std::string_view packetName(std::uint32_t field);
bool isPacketFieldKept(std::uint32_t field);

}  // namespace pitwall::import
