// Calls of CUDA and the work of devices that they launch, from an Nsight Systems export: kernels, copies,
// sets, graphs, synchronisation.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "db/import/build/launches.h"
#include "db/import/nsys/nsight_kernels.h"
#include "db/import/nsys/nsight_projection.h"
#include "db/import/nsys/nsight_rows.h"

namespace pitwall::import {

class NsightWork {
 public:
  NsightWork(NsightRows& rows, NsightNames& names, NsightProjection& projection)
      : rows_(rows),
        builder_(rows.builder()),
        names_(names),
        projection_(projection),
        launches_(builder_),
        kernels_(builder_) {}

  // Each reads one table, calls() first. Errors: corruptTrace, cancelled.
  Status devices();
  Status calls();
  Status kernels();
  Status copies();
  Status sets();
  Status graphs();
  Status syncs();
  void end() { launches_.end(); }

 private:
  struct Stream {
    TrackRef work;
    TrackRef waits;   // synchronisation
    TrackRef ranges;  // projected
  };
  std::uint64_t launchKey(bool has_process, std::int64_t global_process, std::int64_t correlation);
  // Every table of device work begins with the columns start, end, deviceId, streamId, correlationId,
  // globalPid.
  const Stream& stream(const store::ForeignRow& row);
  void work(const store::ForeignRow& row, Event event);

  NsightRows& rows_;
  Builder& builder_;
  NsightNames& names_;
  NsightProjection& projection_;
  Launches launches_;
  NsightKernels kernels_;
  std::map<std::array<std::int64_t, 4>, Stream> streams_;
  std::array<std::int64_t, 4> last_stream_{};
  Stream last_stream_tracks_;
  bool has_ranges_ = false;
  bool device_tables_tell_process_ = true;
};

}  // namespace pitwall::import
