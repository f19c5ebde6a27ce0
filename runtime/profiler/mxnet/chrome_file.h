// The file that MXNet's profiler writes: Chrome's trace format, and valid JSON after every flush. The end of
// the file is written anew each time, over the old one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/event.h"
#include "db/result.h"

namespace pitwall::mxnet {

class ChromeFile {
 public:
  ChromeFile() = default;
  ~ChromeFile() { close(); }
  ChromeFile(const ChromeFile&) = delete;
  ChromeFile& operator=(const ChromeFile&) = delete;

  // Replaces the file. Errors: io.
  Status open(const std::string& path);
  bool isOpen() const { return file_ >= 0; }
  void close();

  struct Item {
    std::string name, category;
    std::int64_t tid = 0;
    TimeNs start_ns = 0, dur_ns = 0;
    std::string args;  // members of a JSON object
  };
  void complete(const Item& item);  // ph X
  // As MXNet writes an operator: B and E on the device, b and e as a task.
  void doubled(const Item& item);
  void begunAndEnded(const Item& item);  // b and e
  void frame(const Item& item);          // ( and )
  void marker(const Item& item, char scope);
  void counter(const Item& item, double value);

  Status flush();
  std::int64_t writtenBytes() const { return written_; }

 private:
  void add(const Item& item, std::string_view phase, TimeNs ns, std::string_view more, int pid);
  int pidOf(const std::string& category);

  int file_ = -1;
  std::string path_;
  std::int64_t written_ = 0;  // without the end
  std::string pending_;
  bool any_ = false;
  std::uint64_t next_id_ = 1;
  std::map<std::string, int> pids_;
};

}  // namespace pitwall::mxnet
