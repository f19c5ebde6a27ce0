// Joins host calls with the device work that they launch, by the profiler's correlation number.
//
// Event ids are computed from the number, so that no table of calls is needed: whether a call or its work was
// seen is one bit, kept in pages of adjacent numbers. All known profilers use dense numbers; scattered
// numbers cost a page each, up to kMostPages (32 MiB); beyond that events are counted but not joined.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/import/build/builder.h"

namespace pitwall::import {

class Launches {
 public:
  explicit Launches(Builder& builder) : builder_(builder) {}

  // `key` is unique per process; 0 means that the profiler gave none. Returns the event's correlation.
  CorrelationId host(std::uint64_t key);
  CorrelationId device(std::uint64_t key);
  // Reports the work that has no launch in the file: launched before recording began.
  void end();

 private:
  static constexpr unsigned kPageBits = 11;
  static constexpr std::size_t kMostPages = std::size_t{1} << 16;
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
  static constexpr std::uint64_t kPageKeys = std::uint64_t{1} << kPageBits;

  // A page of numbers that differ only in the lowest bits.
  struct Page {
    std::uint64_t host[kPageKeys / 64] = {};
    std::uint64_t device[kPageKeys / 64] = {};  // the first device work of a launch
    CorrelationId first_id = 0;                 // of the page's ids: two for each number
  };

  Page* pageOf(std::uint64_t key);

  Builder& builder_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* last_page_ = nullptr;
  std::uint64_t last_number_ = 0;
  // Second and further work of a launch that has not come yet: number and id.
  std::vector<std::pair<std::uint64_t, CorrelationId>> waiting_;
  std::int64_t without_number_ = 0;
  std::int64_t not_joined_ = 0;
};

}  // namespace pitwall::import
