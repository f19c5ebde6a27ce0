// Where the recording tells what its trace can no longer take: a page beside the trace, of the format in
// which recorders leave their rings (db/ring_format.h), made before the disk is full. The trace's next
// opening adds the loss to it and deletes the page.
#pragma once

#include <string>
#include <string_view>

#include "db/event.h"
#include "db/ring_format.h"
#include "record/sample/trace_clock.h"

namespace pitwall::record {

class LossFile {
 public:
  LossFile() = default;
  ~LossFile();  // leaves the file; nobody holds it any more
  LossFile(const LossFile&) = delete;
  LossFile& operator=(const LossFile&) = delete;

  // Beside the trace `trace_path`, whose program is `program`. Where it cannot be made the calls below have
  // no effect.
  void open(const std::string& trace_path, const TraceClock& clock, const ProcessInfo& program);

  // The trace has all up to `now_ns`.
  void reached(TimeNs now_ns);

  // Since the last reached() `count` rows were given to a trace that does not take any more. `reason` is cut.
  void lost(std::int64_t count, std::string_view reason);
  // The loss lasts to here.
  void lostUntil(TimeNs now_ns);

  // The trace is whole.
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
