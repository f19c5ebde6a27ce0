// Puts tasks into an order in which each comes after all that it waits for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/simulate/tasks.h"

namespace pitwall::simulate {

class TaskBuilder {
 public:
  // `marks_ns`: the beginnings of iterations and the end of the last, ascending.
  TaskBuilder(analysis::Interval window, std::vector<TimeNs> marks_ns);

  // What follows is of one thread or stream, in order of time.
  void beginList();

  // At the same moment ends come before begins, and these before work. Each returns a number for link().
  enum class Moment : std::uint8_t { end, begin, work };
  struct Entry {
    TimeNs at_ns = 0;  // of the window; of work its start
    TimeNs own_ns = 0;
    std::uint32_t node = Task::kNone;
    std::uint16_t resource = 0;
    Moment moment = Moment::end;
    std::uint8_t flags = 0;
    std::uint32_t iteration = 0;
  };
  std::uint32_t add(const Entry& entry);
  void mark(std::size_t index, std::uint32_t number) { marks_[index] = number; }
  // How many marks are at or before.
  std::uint32_t iterationAt(TimeNs at_ns) const;

  // Before finish(): the time before a point can become part of what it waits for, which leaves it this much at most.
  void setOwn(std::uint32_t number, TimeNs own_ns) {
    entries_[number].own_ns = std::min(entries_[number].own_ns, own_ns);
  }
  TimeNs ownOf(std::uint32_t number) const { return entries_[number].own_ns; }

  // A delay below zero contradicts the recording: the link is counted and left out.
  void link(std::uint32_t from, std::uint32_t to, const Link& link);
  static constexpr std::uint32_t kOrigin = 0;

  // n log n in lists, linear in the tasks of each.
  Tasks finish(std::size_t resources);

 private:
  struct NumberedLink {
    std::uint32_t to = 0;
    Link link;
  };
  std::vector<std::uint32_t> order() const;
  std::vector<TimeNs> finished() const;
  void setTypicalDelays(Tasks& tasks) const;
  void setLinks(Tasks& tasks, const std::vector<std::uint32_t>& place);

  analysis::Interval window_;
  std::vector<TimeNs> marks_ns_;
  std::vector<std::uint32_t> marks_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> lists_;  // where each begins in entries_
  std::vector<NumberedLink> links_;
  std::array<std::int64_t, kLinkKinds> contradictions_{};
};

}  // namespace pitwall::simulate
