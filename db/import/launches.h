// Joins calls on the host with the device work that they launch, by the correlation number of the profiler.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/import/builder.h"

namespace pitwall::import {

class Launches {
 public:
  explicit Launches(Builder& builder) : builder_(builder) {}

  // `key` is unique per process; 0 means that the profiler gave none. Returns the event's correlation.
  CorrelationId host(std::uint64_t key);
  CorrelationId device(std::uint64_t key);
  // Resolves work that came before its launch in the file; the rest was launched before recording began.
  void end();

 private:
  Builder& builder_;
  std::unordered_map<std::uint64_t, CorrelationId> hosts_;
  std::vector<std::pair<std::uint64_t, CorrelationId>> waiting_;
  std::int64_t without_launch_ = 0;
};

}  // namespace pitwall::import
