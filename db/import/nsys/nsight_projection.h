// NVTX ranges projected onto the device: from the first begin to the last end of the work that was launched
// within the range by its thread, one event for each stream that ran some of it.
//
// Work of one thread on one stream runs in the order of its launches, so that the ends of the launches within
// a range are the ends of the work. The stored data grows with the file up to a bound; work beyond the bound
// is not projected.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/import/build/builder.h"

namespace pitwall::import {

class NsightProjection {
 public:
  explicit NsightProjection(Builder& builder) : builder_(builder) {}

  // A host call; `key` as of its launch.
  void launch(std::uint64_t key, std::int64_t global_thread, std::int64_t start_ns);
  // Work on a device; `beside` is the track of projected ranges beside its stream.
  void work(std::uint64_t key, TrackRef beside, std::int64_t start_ns, std::int64_t end_ns);
  // Called after all launches and work; ranges may follow in any order.
  void sort();
  // Adds the projections of a range of this thread.
  void range(std::int64_t global_thread, const Event& range);
  void end();

 private:
  struct Work {
    std::int64_t launched_ns = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  static constexpr std::size_t kMostLaunches = std::size_t{1} << 21;

  Builder& builder_;
  std::unordered_map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> launches_;  // key -> thread, start
  std::map<std::int64_t, std::map<std::size_t, std::vector<Work>>> threads_;  // thread -> track -> work
  std::int64_t left_out_ = 0;
};

}  // namespace pitwall::import
