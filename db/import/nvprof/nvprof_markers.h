// NVTX ranges and instants of an nvprof database: a range is two rows of one id, its name stands in the first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "db/import/database_rows.h"

namespace pitwall::import {

class NvprofMarkers {
 public:
  using Text = std::function<std::string(std::int64_t id)>;
  using Thread = std::function<TrackRef(std::int64_t process, std::int64_t thread)>;

  NvprofMarkers(DatabaseRows& rows, Builder& builder, Text text, Thread thread)
      : rows_(rows), builder_(builder), text_(std::move(text)), thread_(std::move(thread)) {}

  // Called after all other tables. Errors: corruptTrace, cancelled.
  Status read(std::string_view table);

 private:
  struct OpenMarker {
    std::int64_t start_ns = 0;
    std::int64_t name = 0;
    TrackRef track;
  };
  void marker(const store::ForeignRow& row);
  TrackRef trackOf(const store::ForeignRow& row);

  DatabaseRows& rows_;
  Builder& builder_;
  const Text text_;
  const Thread thread_;
  std::map<std::int64_t, OpenMarker> open_;  // by id
};

}  // namespace pitwall::import
