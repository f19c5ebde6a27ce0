// The buffers that CUPTI fills. All are allocated, touched and zeroed in advance, since CUPTI requests one
// during a kernel launch of the program; they are reused. When none is free CUPTI gets none and drops
// records, which it counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "db/mutex.h"

namespace pitwall::cupti {

struct BufferPlan {
  std::size_t count = 64;       // each thread of the program that uses CUDA fills one
  std::size_t bytes = 2 << 20;  // of each; a multiple of 4096
};

class Buffers {
 public:
  explicit Buffers(const BufferPlan& plan);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  std::size_t bytes() const { return bytes_; }

  // On the program's thread: a zeroed one, or nullptr.
  std::uint8_t* take();
  // On CUPTI's thread. One that is not of these, of another tool, is left alone. After close() the buffer is free again at once, with its records.
  void filled(std::uint8_t* buffer, std::size_t valid_bytes);

  struct Filled {
    std::uint8_t* data;
    std::size_t bytes;
  };
  // On the drain thread: those filled since, in order. Each is returned by giveBack(), which zeroes the used
  // part.
  std::vector<Filled> takeFilled();
  void giveBack(const Filled& buffer);

  // No thread takes what is filled from now on.
  void close();
  // take() gives no more; memory is freed when it is not in use.
  void retire();

  // Those that CUPTI has.
  std::size_t lent() const;

  std::int64_t refused() const;  // requests without a free buffer, so far

 private:
  const std::size_t bytes_;
  mutable Mutex mutex_;
  std::unordered_set<std::uint8_t*> own_ PITWALL_GUARDED_BY(mutex_);
  std::vector<std::uint8_t*> free_ PITWALL_GUARDED_BY(mutex_);
  std::vector<Filled> filled_ PITWALL_GUARDED_BY(mutex_);
  std::size_t lent_ PITWALL_GUARDED_BY(mutex_) = 0;
  bool closed_ PITWALL_GUARDED_BY(mutex_) = false;
  bool retired_ PITWALL_GUARDED_BY(mutex_) = false;
  std::int64_t refused_ PITWALL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pitwall::cupti
