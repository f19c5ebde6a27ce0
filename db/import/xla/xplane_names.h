// What a plane of an XPlane file says besides its lines: names of events and of statistics, and statistics of the plane
// and of names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/import/input/protobuf.h"
#include "db/units.h"

namespace pitwall::import {

// The statistics that are read.
enum class XplaneStat : std::uint8_t {
  correlation,
  kernelDetails,
  memcpyDetails,
  memsetDetails,
  hloOp,
  hloModule,
  frameworkOp,
  step,
  sessionStart,
  none
};
inline constexpr auto kXplaneStats = static_cast<std::size_t>(XplaneStat::none);

// The texts of statistics; those of a plane or of the file's buffer, since many events share a text.
struct XplaneTexts {
  std::array<std::string_view, kXplaneStats> texts;

  std::string_view operator[](XplaneStat stat) const { return texts[static_cast<std::size_t>(stat)]; }
};

class XplaneNames {
 public:
  struct EventName {
    std::string name;
    XplaneTexts stats;
    bool has_stats = false;
  };
  // Texts of statistics that are numbers, of one event.
  using Numbers = std::array<std::string, kXplaneStats>;

  // Entries of the plane's tables. Names of statistics come first: the others use them.
  void addStat(std::string_view entry);
  void addEvent(std::string_view entry);
  // A statistic of the plane itself.
  void addOwn(std::string_view message) { keepStat(message, own_); }

  std::size_t stats() const { return stat_names_.size(); }
  std::size_t events() const { return events_.size(); }
  Bytes bytes() const { return bytes_; }  // of all texts, about

  const XplaneTexts& own() const { return own_; }
  // Null when the plane does not hold it.
  const EventName* event(std::int64_t id) const;
  // A statistic of an event: `texts` then refers to the message, to `numbers` or to this.
  void stat(std::string_view message, XplaneTexts& texts, Numbers& numbers) const;

 private:
  struct StatName {
    std::string name;
    XplaneStat stat = XplaneStat::none;
  };
  // The slot of a statistic that is read, and the field with its value; false when it is not read.
  bool find(std::string_view message, std::size_t& slot, ProtoField& value) const;
  std::string_view referred(const ProtoField& value) const;
  void keepStat(std::string_view message, XplaneTexts& texts);
  std::string_view keep(std::string_view text);
  void grow(std::string_view text);

  std::unordered_map<std::int64_t, EventName> events_;
  std::unordered_map<std::int64_t, StatName> stat_names_;
  std::deque<std::string> texts_;  // of the statistics of names and of the plane
  XplaneTexts own_;
  Bytes bytes_ = 0;
};

}  // namespace pitwall::import
