// The graphs of a list of operators that a GPU runs again and again: what they put on a stream is captured once and then repeated
// by one call of the driver (MXNET_ENABLE_CUDA_GRAPHS).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/mutex.h"
#include "runtime/gpu.h"

namespace pitwall {

class GpuCaptures {
 public:
  struct Options {
    bool verbose = false;  // MXNET_CUDA_GRAPHS_VERBOSE: captures and launches are logged
    int most_lines = 0;    // MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES: of captures, in the process
  };

  // `name` and `operators` for the log. `driver` outlives it.
  GpuCaptures(GpuDriver& driver, Options options, std::string name, std::size_t operators)
      : driver_(driver), options_(options), name_(std::move(name)), operators_(operators) {}
  ~GpuCaptures();
  GpuCaptures(const GpuCaptures&) = delete;
  GpuCaptures& operator=(const GpuCaptures&) = delete;

  // What `put` would do, which puts work on the stream that depends on nothing but `addresses`. The first run with the same
  // addresses calls it, the second captures it, later ones repeat that. Where it cannot be captured, each run calls it. Errors: those
  // of `put` and of the driver.
  Status run(GpuStream stream, std::span<const void* const> addresses, const std::function<Status()>& put);

 private:
  static constexpr std::size_t kMost = 4;  // lists of addresses: one for each thread that runs it
  struct Entry {
    std::vector<const void*> addresses;
    GpuGraph graph = nullptr;  // nullptr: it has run once
  };
  static void printNote(const std::string& what);

  GpuDriver& driver_;
  const Options options_;
  const std::string name_;
  const std::size_t operators_;
  Mutex mutex_;
  std::vector<Entry> entries_ PITWALL_GUARDED_BY(mutex_);
  std::size_t next_ PITWALL_GUARDED_BY(mutex_) = 0;  // that is replaced
  bool fails_ PITWALL_GUARDED_BY(mutex_) = false;
};

}  // namespace pitwall
