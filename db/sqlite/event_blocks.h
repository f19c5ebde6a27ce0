// Events of one track, in blocks of fixed size that are reused: a growing vector would copy its contents and
// take fresh pages from the system for every batch, which costs more than encoding the events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "db/event.h"

namespace pitwall::store {

// The default size of a chunk, so that a full block becomes a chunk without copying.
inline constexpr std::size_t kBlockEvents = 8192;

using EventBlock = std::vector<Event>;  // of capacity kBlockEvents, never beyond

class EventBlocks {
 public:
  std::size_t size() const { return size_; }
  // Whether they were added ordered by start, outer ones first.
  bool isSorted() const { return sorted_; }
  std::span<EventBlock> blocks() { return blocks_; }

  // Takes blocks from `spare` while it has some.
  void append(std::span<const Event> events, std::vector<EventBlock>& spare) {
    size_ += events.size();
    noteOrder(events);
    while (!events.empty()) {
      if (blocks_.empty() || blocks_.back().size() == kBlockEvents) addBlock(spare);
      EventBlock& block = blocks_.back();
      const std::size_t count = std::min(events.size(), kBlockEvents - block.size());
      block.insert(block.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
      events = events.subspan(count);
    }
  }

  // Gives the blocks back.
  void clear(std::vector<EventBlock>& spare) {
    for (EventBlock& block : blocks_) {
      block.clear();
      spare.push_back(std::move(block));
    }
    blocks_.clear();
    size_ = 0;
    sorted_ = true;
  }

  static bool before(const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.depth < b.depth;
  }

 private:
  // Checked here, while the events are in the cache: the writer would have to fetch them again.
  void noteOrder(std::span<const Event> events) {
    if (!sorted_ || events.empty()) return;
    const bool follows =
        blocks_.empty() || blocks_.back().empty() || !before(events.front(), blocks_.back().back());
    sorted_ = follows && std::is_sorted(events.begin(), events.end(),
                                        [](const Event& a, const Event& b) { return before(a, b); });
  }

  void addBlock(std::vector<EventBlock>& spare) {
    if (spare.empty()) {
      blocks_.emplace_back();  // grows by itself up to a block: a track of few events takes little
      return;
    }
    blocks_.push_back(std::move(spare.back()));
    spare.pop_back();
  }

  std::vector<EventBlock> blocks_;
  std::size_t size_ = 0;
  bool sorted_ = true;
};

}  // namespace pitwall::store
