// Reports operators to other tools (Nsight): a range of NVTX domain "pitwall" around each operator, named by
// operator and layer, with its phase as category and its floating-point operations as payload.
//
// Whether a tool is attached is determined at the start: without one no function is called.
#pragma once

#include <cstdint>
#include <memory>

#include "db/ids.h"
#include "runtime/profiler.h"

namespace pitwall::nvtx {

class OperatorRanges {
 public:
  // `profiler` has the facts of the operators; it must outlive this object.
  explicit OperatorRanges(const Profiler& profiler);
  ~OperatorRanges();
  OperatorRanges(const OperatorRanges&) = delete;
  OperatorRanges& operator=(const OperatorRanges&) = delete;

  // Whether a tool is attached. Pitwall's injection library does not count while the profiler records: each
  // operator is in that trace already.
  bool toolIsAttached() const { return attached_ && !(tool_is_ours_ && profiler_.isRecording()); }

  // On the thread that runs the operator, while a tool is attached.
  void push(OperatorId facts);
  void pop();

 private:
  struct Tool;
  const Profiler& profiler_;
  bool attached_ = false;
  bool tool_is_ours_ = false;
  std::unique_ptr<Tool> tool_;
};

}  // namespace pitwall::nvtx
