#include "db/import/xla/xplane_names.h"

#include <algorithm>
#include <utility>

namespace pitwall::import {
namespace {

constexpr std::size_t kLongestXplaneText = std::size_t{1} << 16;
constexpr Bytes kBytesOfAnEntry = 64;

constexpr std::array<std::string_view, kXplaneStats> kNamesOfStats = {
    "correlation_id", "kernel_details", "memcpy_details", "memset_details",    "hlo_op",
    "hlo_module",     "tf_op",          "step_num",       "profile_start_time"};

// Fields of a statistic.
constexpr std::uint32_t kUnsigned = 3, kSigned = 4, kText = 5, kReference = 7;

XplaneStat statOf(std::string_view name) {
  const auto* found = std::find(kNamesOfStats.begin(), kNamesOfStats.end(), name);
  return static_cast<XplaneStat>(found - kNamesOfStats.begin());
}

std::pair<std::int64_t, std::string_view> mapEntry(std::string_view message) {
  std::pair<std::int64_t, std::string_view> entry{0, {}};
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) entry.first = field.integer();
    if (field.number == 2 && field.is_bytes) entry.second = field.bytes;
  }
  return entry;
}

}  // namespace

void XplaneNames::grow(std::string_view text) { bytes_ += static_cast<Bytes>(text.size()) + kBytesOfAnEntry; }

std::string_view XplaneNames::keep(std::string_view text) {
  grow(text);
  return texts_.emplace_back(text);
}

void XplaneNames::addStat(std::string_view entry) {
  const auto [id, message] = mapEntry(entry);
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number != 2 || !field.is_bytes) continue;
    stat_names_[id] = {std::string(field.bytes.substr(0, kLongestXplaneText)), statOf(field.bytes)};
    grow(stat_names_[id].name);
  }
}

void XplaneNames::addEvent(std::string_view entry) {
  const auto [id, message] = mapEntry(entry);
  EventName& known = events_[id];
  std::string_view display;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (!field.is_bytes) continue;
    if (field.number == 2) known.name = std::string(field.bytes.substr(0, kLongestXplaneText));
    if (field.number == 4) display = field.bytes.substr(0, kLongestXplaneText);
    if (field.number == 5) {
      keepStat(field.bytes, known.stats);
      known.has_stats = true;
    }
  }
  if (!display.empty()) known.name = std::string(display);
  grow(known.name);
}

const XplaneNames::EventName* XplaneNames::event(std::int64_t id) const {
  const auto found = events_.find(id);
  return found == events_.end() ? nullptr : &found->second;
}

bool XplaneNames::find(std::string_view message, std::size_t& slot, ProtoField& value) const {
  slot = kXplaneStats;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) {
      const auto found = stat_names_.find(field.integer());
      if (found == stat_names_.end() || found->second.stat == XplaneStat::none) return false;
      slot = static_cast<std::size_t>(found->second.stat);
    }
    const bool number = field.number == kUnsigned || field.number == kSigned || field.number == kReference;
    if ((number && !field.is_bytes) || (field.number == kText && field.is_bytes)) value = field;
  }
  return slot < kXplaneStats && value.number != 0;
}

// The text of a value that is the name of a statistic.
std::string_view XplaneNames::referred(const ProtoField& value) const {
  const auto name = stat_names_.find(value.integer());
  return name == stat_names_.end() ? std::string_view() : std::string_view(name->second.name);
}

// The message does not stay in memory.
void XplaneNames::keepStat(std::string_view message, XplaneTexts& texts) {
  std::size_t slot = 0;
  ProtoField value;
  if (!find(message, slot, value)) return;
  texts.texts[slot] = value.number == kReference ? referred(value)
                      : value.number == kText    ? keep(value.bytes.substr(0, kLongestXplaneText))
                                                 : keep(std::to_string(value.integer()));
}

void XplaneNames::stat(std::string_view message, XplaneTexts& texts, Numbers& numbers) const {
  std::size_t slot = 0;
  ProtoField value;
  if (!find(message, slot, value)) return;
  if (value.number == kUnsigned || value.number == kSigned) numbers[slot] = std::to_string(value.integer());
  texts.texts[slot] = value.number == kReference ? referred(value)
                      : value.number == kText    ? value.bytes.substr(0, kLongestXplaneText)
                                                 : std::string_view(numbers[slot]);
}

}  // namespace pitwall::import
