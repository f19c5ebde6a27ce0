// Records losses that the trace can no longer store: a page beside the trace, in the format of ring files
// (db/ring_format.h), created before the disk is full. The next opening of the trace adds the loss to it and
// deletes the page.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/record/sample/trace_clock.h"
#include "db/event.h"
#include "db/ring_format.h"

namespace pitwall::record {

class LossFile {
 public:
  LossFile() = default;
  ~LossFile();  // keeps the file, without its lock
  LossFile(const LossFile&) = delete;
  LossFile& operator=(const LossFile&) = delete;

  // Beside the trace `trace_path`, whose program is `program`. If it cannot be created the calls below have
  // no effect.
  void open(const std::string& trace_path, const TraceClock& clock, const ProcessInfo& program);

  // The trace has all rows up to `now_ns`.
  void reached(TimeNs now_ns);

  // Since the last reached() `count` rows were passed to a trace that can no longer store them. `reason` is
  // truncated.
  void lost(std::int64_t count, std::string_view reason);
  // Sets the end of the loss.
  void lostUntil(TimeNs now_ns);

  // The trace is complete: deletes the file.
  void remove();

 private:
  void write();

  std::string path_;
  int file_ = -1;
  TimeNs reached_ns_ = 0;
  std::uint64_t start_ = 0;
  union Page {
    Page() : bytes{} {}
    char bytes[ring::kPage];
    ring::FileHeader header;
  } page_;
};

}  // namespace pitwall::record
