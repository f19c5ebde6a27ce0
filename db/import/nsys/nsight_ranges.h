// NVTX ranges and instants of an Nsight Systems export.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/import/nsys/nsight_payload.h"
#include "db/import/nsys/nsight_projection.h"
#include "db/import/nsys/nsight_rows.h"

namespace pitwall::import {

class NsightRanges {
 public:
  NsightRanges(NsightRows& rows, NsightNames& names, NsightProjection& projection)
      : rows_(rows),
        builder_(rows.builder()),
        names_(names),
        payload_(builder_, names),
        projection_(projection) {}

  // Called after all calls and work of devices were read. Errors: corruptTrace, cancelled.
  Status read();

 private:
  struct OpenRange {
    std::int64_t thread = 0;
    TrackRef track;
    Event event;
  };
  Status domains();
  StringId rangeArgs(std::int64_t process, const store::ForeignRow& row, Event& event);
  void range(const store::ForeignRow& row);

  NsightRows& rows_;
  Builder& builder_;
  NsightNames& names_;
  NsightPayload payload_;
  NsightProjection& projection_;
  std::vector<OpenRange> open_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;  // process, number -> name
};

}  // namespace pitwall::import
