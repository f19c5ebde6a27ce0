// Perfetto's tracks: descriptors, and the rows of the trace that they become.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "db/import/build/builder.h"

namespace pitwall::import {

class PftraceTracks {
 public:
  explicit PftraceTracks(Builder& builder) : builder_(builder) {}

  struct Counter {
    TrackRef track;
    double multiplier = 1;
    bool incremental = false;
    double sum = 0;  // of an incremental one
  };

  void descriptor(std::string_view message);   // TrackDescriptor
  void processTree(std::string_view message);  // ProcessTree
  // Of a thread that a sequence's packets belong to (ThreadDescriptor), by its own fields.
  TrackRef thread(std::string_view thread_descriptor);
  TrackRef track(std::uint64_t uuid);
  Counter& counter(std::uint64_t uuid);

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  // Under this number is kept together what exceeds the bound.
  static constexpr std::uint64_t kShared = ~std::uint64_t{0};
  struct Known {
    std::string name;
    std::string unit;
    std::uint64_t parent = 0;
    std::int64_t pid = -1;
    std::int64_t tid = -1;
    double multiplier = 1;
    bool incremental = false;
    bool described = false;
    bool has_track = false;
    TrackRef track;
  };

  Known& known(std::uint64_t uuid);
  std::uint64_t shared(std::uint64_t uuid);  // counts it
  ProcessRef processOfPid(std::int64_t pid);
  ProcessRef processOf(const Known& track);
  void nameThread(std::int64_t pid, std::int64_t tid, std::string_view name);
  void readProcess(std::string_view message, Known& track);
  void readThread(std::string_view message, Known& track);
  static void readCounter(std::string_view message, Known& track);
  std::string ownName(ProcessRef process, const Known& track, std::uint64_t uuid);

  Builder& builder_;
  std::unordered_map<std::uint64_t, Known> tracks_;
  std::unordered_map<std::uint64_t, Counter> counters_;
  std::map<std::pair<std::size_t, std::string>, int> names_;  // of rows that are no threads
};

}  // namespace pitwall::import
