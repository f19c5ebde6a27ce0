// Parallel work on a thread that does not go on to compute.
#pragma once

#include <omp.h>

namespace pitwall {

// At its end the OpenMP threads of the calling thread end; its next parallel region starts them again. Idle threads count among
// those of the process: where these are more than the processors, libgomp's threads sleep between the parallel regions of
// all threads instead of waiting for the next, which costs tens of microseconds for each.
class OpenMpVisit {
 public:
  OpenMpVisit() = default;
  OpenMpVisit(const OpenMpVisit&) = delete;
  OpenMpVisit& operator=(const OpenMpVisit&) = delete;
  ~OpenMpVisit() { omp_pause_resource_all(omp_pause_soft); }
};

}  // namespace pitwall
