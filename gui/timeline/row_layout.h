// Which rows are shown, in which order and where: processes that open and close over their tracks, pinned
// rows on top, hidden and filtered ones left out. No widgets: the view paints this layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

struct Row {
  bool is_process = false;
  std::size_t index = 0;  // into Timeline::processes or Timeline::tracks
  int y = 0;              // pixels below the top of the first row
  int height = 0;
  int lanes = 0;  // shown; fewer than the track has when it is closed
  bool open = true;
  bool pinned = false;
  bool nested = false;  // below the row of its thread
  int states = 0;       // height of the strip at its bottom that shows what the thread does; 0: none
};

struct RowMetrics {
  int lane = 16;     // height of a lane
  int process = 22;  // of a process' title
  int counter = 40;
  int states = 5;  // of the strip of a thread's states
  int gap = 3;     // below each row
};

// The user's changes to the rows, to be saved; tracks by TrackId.value.
struct RowsKept {
  std::vector<std::uint32_t> order;  // empty: the default order
  std::vector<std::uint32_t> pinned, hidden, closed;
  std::vector<std::uint32_t> closed_processes;  // indices
};

// The track whose counter the row draws as a chart: its own, or of a thread that has counters only and is closed the first one; null: none.
const TimelineTrack* chartOf(const Timeline& timeline, const Row& row);

class RowLayout {
 public:
  // Opens all rows but those of counters that never change, and of threads: these are out of sight where the thread has no events.
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  void setMetrics(const RowMetrics& metrics);
  const RowMetrics& metrics() const { return metrics_; }

  const std::vector<Row>& rows() const { return rows_; }
  int height() const { return height_; }
  // Another number after each change.
  std::uint64_t version() const { return version_; }
  // Index of the row at `y`, -1 when none; and of a track's row.
  int rowAt(int y) const;
  int rowOfTrack(std::size_t track) const;

  void toggleOpen(const Row& row);
  void setAllOpen(bool open);
  void togglePinned(std::size_t track);
  bool isPinned(std::size_t track) const { return pinned_[track]; }
  void setHidden(std::size_t track, bool hidden);
  void showHidden();
  // Opens what is closed around a track's row; ends hiding and filtering it.
  void reveal(std::size_t track);
  std::size_t hiddenCount() const;
  // Moves a track's row, with those nested below it, one place up (-1) or down (1) among its process' rows, a nested row among those
  // of its thread. False at the end.
  bool move(std::size_t track, int by);
  RowsKept kept() const;
  // Rows that this timeline does not have are left out.
  void restore(const RowsKept& kept);
  // Only rows whose title contains every word, ignoring case; empty: all.
  void setFilter(const std::string& words);

 private:
  void update();
  void addTrack(std::size_t track, bool pinned);
  bool passes(std::size_t track) const;
  bool inSight(std::size_t track) const;  // of a process that is open
  std::size_t parentOf(std::size_t place) const { return timeline_->tracks[order_[place]].parent; }
  std::size_t endOfBlock(std::size_t place) const;
  bool sameLevel(std::size_t a, std::size_t b) const;

  std::shared_ptr<const Timeline> timeline_;
  RowMetrics metrics_;
  std::vector<std::size_t> order_;  // tracks as shown
  std::vector<bool> process_open_, track_open_, pinned_, hidden_;
  std::vector<std::string> filter_;
  std::vector<Row> rows_;
  std::vector<int> row_of_track_;  // -1: not shown
  int height_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace pitwall::gui
