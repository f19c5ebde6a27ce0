// The trace of a recording from outside while it is written: samples, and what is lost once the trace can no longer
// store them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "analyzer/record/run/loss_file.h"
#include "analyzer/record/sample/sampler.h"
#include "analyzer/record/sample/trace_clock.h"
#include "analyzer/record_program.h"
#include "db/result.h"
#include "db/sink.h"

namespace pitwall::record {

// All calls from one thread. The clock starts with the object.
class SampledTrace {
 public:
  // Creates the trace of `program`. Errors: as createTrace.
  Status open(const std::string& path, const std::string& producer, const ProcessInfo& program);
  bool isOpen() const { return sink_ != nullptr; }
  const std::string& path() const { return path_; }
  const TraceClock& clock() const { return clock_; }
  TraceSink& sink() { return *sink_; }  // while open

  // Samples `root` and its descendants from now on, as `options` and `sampling` say.
  void startSampler(pid_t root, const RecordOptions& options, SamplerOptions sampling);
  Sampler* sampler() { return sampler_.get(); }  // null before that, and after close()
  const Sampler* sampler() const { return sampler_.get(); }

  // The time of the next work() that has something to do.
  TimeNs nextNs() const;
  // Takes the samples that are due, and writes once per second. Errors: of the sink; the loss is recorded.
  Status work(TimeNs now_ns);

  // Takes the last samples and fills `result` from the sampler.
  void finishSampling(Recorded& result);
  // Writes the end of the recording and closes the trace. Errors: as work().
  Status close(const Recorded& result);
  // What happens until `now_ns` is lost too, if anything is.
  void lostUntil(TimeNs now_ns) { loss_file_.lostUntil(now_ns); }
  // Deletes the trace.
  void abandon();

 private:
  Failure lost(const Error& why);

  TraceClock clock_;
  std::string path_;
  std::unique_ptr<TraceSink> sink_;
  LossFile loss_file_;
  std::unique_ptr<Sampler> sampler_;
  TimeNs write_due_ns_ = 0;
  std::int64_t samples_flushed_ = 0;
  bool lost_ = false;
};

// The sentence for an error that ends a recording before its program ends.
std::string endedEarly(TimeNs now_ns, const Error& why);

}  // namespace pitwall::record
