// Distinct integer types for the keys of a trace's dimension tables, so that ids of different tables cannot
// be confused. Value 0 means "none"; ids are dense and start at 1 in the order of creation.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace pitwall {

template <class Tag>
struct Id {
  std::uint32_t value = 0;
  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const Id&, const Id&) = default;
};

using StringId = Id<struct StringTag>;
using ProcessId = Id<struct ProcessTag>;
using ThreadId = Id<struct ThreadTag>;
using DeviceId = Id<struct DeviceTag>;
using TrackId = Id<struct TrackTag>;
using OperatorId = Id<struct OperatorTag>;  // a row of operator facts, not one execution
using KernelId = Id<struct KernelTag>;      // a row of kernel facts, not one launch
using FrameId = Id<struct FrameTag>;
using StackId = Id<struct StackTag>;

// One execution of an operator; unique within a trace, 0 = none. Also the correlation of its event and the
// ends of its dependencies.
using CorrelationId = std::uint64_t;

}  // namespace pitwall

template <class Tag>
struct std::hash<pitwall::Id<Tag>> {
  std::size_t operator()(pitwall::Id<Tag> id) const noexcept { return id.value; }
};
