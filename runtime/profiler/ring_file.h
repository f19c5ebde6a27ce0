// The writing side of a recording's ring file (db/ring_format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "db/event.h"
#include "db/mutex.h"
#include "db/result.h"
#include "db/ring_format.h"

namespace pitwall::profiler {

struct Site;

class RingFile {
 public:
  struct Start {
    ProcessInfo process;
    std::int64_t unix_ns = 0;
    ring::ClockPair clock;
    bool ticks_are_ns = false;
  };
  // Replaces the file at `path`. Errors: io.
  static Result<std::unique_ptr<RingFile>> create(const std::string& path, const Start& start);
  ~RingFile();  // closes; the file stays unless remove() was called
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  // A new extent at the end, its header written, mapped and backed by disk space, so that there is never a
  // SIGBUS. nullptr when there is no space. Any thread.
  void* mapExtent(std::uint32_t kind, std::size_t bytes);

  // For the Identities, with their lock held. Lost when there is no space.
  void writeSite(std::uint32_t id, const Site& site);
  void writeFacts(std::uint32_t id, const OperatorFacts& facts);

  ring::FileHeader& header() { return *header_; }
  void addClockPair(ring::ClockPair pair);
  void addLost(std::int64_t count, TimeNs from_ns, TimeNs to_ns, std::string_view reason);

  void remove();        // the recording is complete: the file is no longer needed
  void closeInChild();  // after fork(): the child releases it, the parent keeps its lock
  Mutex& mutex() PITWALL_RETURN_CAPABILITY(mutex_) { return mutex_; }  // fork() holds it

 private:
  RingFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Status prepare(const Start& start);
  bool extend(std::size_t bytes, std::uint64_t& at) PITWALL_REQUIRES(mutex_);
  void writeName(ring::NameEntry entry, std::initializer_list<std::string_view> texts);

  const std::string path_;
  int file_;
  ring::FileHeader* header_ = nullptr;
  ring::NamesHeader* names_ = nullptr;  // the extent that names go to; guarded by the lock of the Identities

  Mutex mutex_;  // held while the file grows
};

}  // namespace pitwall::profiler
