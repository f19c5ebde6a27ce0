// Ranges whose begin and end are separate events: nested on a track (phases B and E), or paired by a key
// (asynchronous ones).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "db/import/build/builder.h"
#include "db/import/chrome/place.h"

namespace pitwall::import {

struct OpenRange {
  std::int64_t start_ns = 0;
  TrackRef track;
  StringId name;
  OperatorId op = {};
  StringId args = {};
  bool has_arguments = false;  // given at its begin
  EventKind kind = EventKind::scope;
};

class OpenRanges {
 public:
  explicit OpenRanges(Builder& builder) : builder_(builder) {}

  // False, and counted, where too many are open; to be asked once before each begin.
  bool mayOpen(const Place& place);

  void begin(const OpenRange& range);
  OpenRange* innermost(TrackRef track);           // null = none is open
  void end(TrackRef track, std::int64_t end_ns);  // the innermost one

  void beginPaired(std::uint64_t key, const OpenRange& range);
  bool endPaired(std::uint64_t key, std::int64_t end_ns);  // the latest one; false = none is open

  // Those that are still open last to the end of the trace, and are counted.
  void endAll();

 private:
  void close(const OpenRange& range, std::int64_t end_ns);
  void closeAll(const std::vector<OpenRange>& ranges, std::int64_t end_ns);

  Builder& builder_;
  std::vector<std::vector<OpenRange>> by_track_;
  std::unordered_map<std::uint64_t, std::vector<OpenRange>> by_key_;
  std::size_t count_ = 0;
  ImportCount* too_many_ = nullptr;
};

}  // namespace pitwall::import
