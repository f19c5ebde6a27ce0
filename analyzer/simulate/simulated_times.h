// The times of a simulated program for the recorded events, so that a copy of the trace shows them.
//
// On a thread whose moments the simulator knows, an event begins and ends at the simulated moments; between two of them
// time is stretched. Device work and operators of workers have their simulated times. Rows that are not simulated keep
// their place within the iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/simulate/program.h"
#include "analyzer/simulate/replay.h"
#include "db/moved_times.h"
#include "db/reader.h"

namespace pitwall::simulate {

class SimulatedTimes final : public MovedTimes {
 public:
  // `recorded` is the replay of the program as it is, `simulated` of the changed one. n log n in the tasks.
  SimulatedTimes(const Program& program, const Trace& trace, const Replayed& recorded,
                 const Replayed& simulated, const Lengths& lengths);

  bool has(TrackId track) const override;
  void move(TrackId track, Event& event) const override;
  TimeNs moved(TrackId track, TimeNs time_ns) const override;

 private:
  // Moments of a thread, or beginnings of iterations, ascending; since the window's start.
  struct Moments {
    std::vector<TimeNs> recorded, simulated;

    void add(TimeNs recorded_ns, TimeNs simulated_ns);
    // Where two moments were recorded at once, the one that comes last, or first.
    TimeNs begin(TimeNs at) const;
    TimeNs end(TimeNs at) const;

   private:
    TimeNs between(std::size_t next, TimeNs at) const;
  };
  // By recorded start.
  struct Work {
    TimeNs start_ns = 0, end_ns = 0;  // recorded
    TimeNs simulated_start_ns = 0, simulated_end_ns = 0;
  };
  struct Resource {
    Moments moments;
    std::vector<Work> works;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static bool findWork(const std::vector<Work>& works, TimeNs start, TimeNs end, Work& found);
  static TimeNs nearWork(const std::vector<Work>& works, std::size_t after, TimeNs at);
  static TimeNs beginAmong(const Resource& resource, TimeNs at);
  static TimeNs endAmong(const Resource& resource, TimeNs at);
  void addTasks(const Program& program, const Replayed& recorded, const Replayed& simulated,
                const Lengths& lengths);
  void assignTracks(const Program& program, const Trace& trace);
  const Resource* resourceOf(TrackId track) const;

  TimeNs window_start_ns_ = 0;
  Moments iterations_;
  std::vector<Resource> resources_;         // of the graph, and the training thread of an engine
  std::vector<std::uint32_t> resource_of_;  // by track; kNone = it is not simulated
  std::vector<bool> has_;                   // by track
  std::uint32_t training_ = kNone;          // resource
};

}  // namespace pitwall::simulate
