// The file that MXNet's profiler writes: Chrome's trace format, and valid JSON after every flush. Each flush
// overwrites the end of the file.
//
// The drain thread writes about 20,000 events per second into it during training: the common part of events
// of one name is formatted once, and an event appends its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "db/event.h"
#include "db/result.h"

namespace pitwall::mxnet {

class ChromeFile {
 public:
  ChromeFile() = default;
  ~ChromeFile() { close(); }
  ChromeFile(const ChromeFile&) = delete;
  ChromeFile& operator=(const ChromeFile&) = delete;

  // Replaces the file; earlier labels become invalid. Errors: io.
  Status open(const std::string& path);
  bool isOpen() const { return file_ >= 0; }
  void close();

  // The common part of events, as text.
  struct Label {
    std::string names;  // "name" and "cat"
    std::string args;   // with the comma before it; may be empty. For a counter up to its value
    int pid = 0;
  };
  // `members`: the arguments, a JSON object without braces; may be empty.
  Label label(const std::string& name, const std::string& category, const std::string& members = {});
  Label counterLabel(const std::string& name, const std::string& category);

  struct Span {
    std::int64_t tid = 0;
    TimeNs start_ns = 0, dur_ns = 0;
  };
  void complete(const Label& label, const Span& span);  // ph X
  // As MXNet writes an operator: B and E on the device, b and e as a task.
  void doubled(const Label& label, const Span& span);
  void begunAndEnded(const Label& label, const Span& span);  // b and e
  void frame(const Label& label, const Span& span);          // ( and )
  void marker(const Label& label, const Span& span, char scope);
  void counter(const Label& counter_label, TimeNs time_ns, double value);

  // Data of a failed write is written again at the next flush, up to 16 MiB.
  Status flush();
  std::size_t pendingBytes() const { return pending_.size(); }

 private:
  int pidOf(const std::string& category);
  void announce(int pid, const std::string& name);
  void separate();
  void begin(const Label& label, std::string_view phase, TimeNs ns);
  void place(const Label& label, std::int64_t tid);
  void end(const Label& label, std::int64_t tid);
  void appendNumber(std::int64_t number);
  void appendMicros(TimeNs ns);

  int file_ = -1;
  std::string path_;
  std::int64_t written_ = 0;  // without the end
  std::string pending_;
  bool any_ = false;
  std::uint64_t next_id_ = 1;
  std::map<std::string, int> pids_;
};

}  // namespace pitwall::mxnet
