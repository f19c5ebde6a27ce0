#include "gui/timeline/row_layout.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace pitwall::gui {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Ignoring case; `word` is in lower case.
bool contains(const std::string& text, const std::string& word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char c, char of_word) { return lower(c) == of_word; }) != text.end();
}

}  // namespace

const TimelineTrack* chartOf(const Timeline& timeline, const Row& row) {
  if (row.is_process) return nullptr;
  const TimelineTrack* track = &timeline.tracks[row.index];
  const bool stands_for =
      track->id.value >= kThreadRow && !row.open && row.index + 1 < timeline.tracks.size();
  if (stands_for && timeline.tracks[row.index + 1].parent == row.index) ++track;
  return track->counter.size() > 0 ? track : nullptr;
}

void RowLayout::setTimeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  const std::size_t tracks = timeline_ ? timeline_->tracks.size() : 0;
  order_.resize(tracks);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  process_open_.assign(timeline_ ? timeline_->processes.size() : 0, true);
  track_open_.assign(tracks, true);
  for (std::size_t track = 0; track < tracks; ++track) {
    const TimelineTrack& of = timeline_->tracks[track];
    const bool flat = of.counter.size() > 0 && of.counter.least() == of.counter.greatest();
    const bool stands_for = of.id.value >= kThreadRow && of.memory == nullptr;
    if (of.parent != kNoTrack || stands_for || flat) track_open_[track] = false;
  }
  pinned_.assign(tracks, false);
  hidden_.assign(tracks, false);
  filter_.clear();
  update();
}

void RowLayout::setMetrics(const RowMetrics& metrics) {
  metrics_ = metrics;
  update();
}

int RowLayout::rowAt(int y) const {
  const auto next =
      std::upper_bound(rows_.begin(), rows_.end(), y, [](int at, const Row& row) { return at < row.y; });
  return next == rows_.begin() || y >= height_ ? -1 : static_cast<int>(next - rows_.begin()) - 1;
}

int RowLayout::rowOfTrack(std::size_t track) const {
  return track < row_of_track_.size() ? row_of_track_[track] : -1;
}

void RowLayout::toggleOpen(const Row& row) {
  auto& open = row.is_process ? process_open_ : track_open_;
  open[row.index] = !open[row.index];
  update();
}

void RowLayout::setAllOpen(bool open) {
  std::fill(process_open_.begin(), process_open_.end(), open);
  std::fill(track_open_.begin(), track_open_.end(), open);
  update();
}

void RowLayout::togglePinned(std::size_t track) {
  pinned_[track] = !pinned_[track];
  update();
}

void RowLayout::setHidden(std::size_t track, bool hidden) {
  hidden_[track] = hidden;
  update();
}

void RowLayout::showHidden() {
  std::fill(hidden_.begin(), hidden_.end(), false);
  update();
}

void RowLayout::reveal(std::size_t track) {
  hidden_[track] = false;
  if (!passes(track)) filter_.clear();
  const TimelineTrack& of = timeline_->tracks[track];
  process_open_[of.process] = true;
  if (of.parent != kNoTrack) {
    track_open_[of.parent] = true;
    hidden_[of.parent] = false;
  }
  update();
}

std::size_t RowLayout::hiddenCount() const {
  return static_cast<std::size_t>(std::count(hidden_.begin(), hidden_.end(), true));
}

// Behind the rows nested below the one at `place`.
std::size_t RowLayout::endOfBlock(std::size_t place) const {
  const std::size_t track = order_[place];
  std::size_t end = place + 1;
  while (end < order_.size() && parentOf(end) == track) ++end;
  return end;
}

bool RowLayout::sameLevel(std::size_t a, std::size_t b) const {
  return parentOf(a) == parentOf(b) &&
         timeline_->tracks[order_[a]].process == timeline_->tracks[order_[b]].process;
}

bool RowLayout::move(std::size_t track, int by) {
  const auto found = std::find(order_.begin(), order_.end(), track);
  if (found == order_.end()) return false;
  const auto at = static_cast<std::size_t>(found - order_.begin());
  const std::size_t end = endOfBlock(at);
  std::size_t first = at, middle = end, last = end;
  if (by < 0) {
    if (at == 0) return false;
    first = at - 1;
    while (first > 0 && parentOf(at) == kNoTrack && parentOf(first) != kNoTrack) --first;
    if (!sameLevel(first, at)) return false;
    middle = at;
  } else {
    if (end == order_.size() || !sameLevel(at, end)) return false;
    last = endOfBlock(end);
  }
  const auto place = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(place(first), place(middle), place(last));
  update();
  return true;
}

void RowLayout::setFilter(const std::string& words) {
  std::istringstream stream(words);
  filter_.clear();
  for (std::string word; stream >> word;) {
    std::transform(word.begin(), word.end(), word.begin(), lower);
    filter_.push_back(word);
  }
  update();
}

bool RowLayout::passes(std::size_t track) const {
  if (hidden_[track]) return false;
  return std::all_of(filter_.begin(), filter_.end(),
                     [&](const std::string& word) { return contains(timeline_->tracks[track].title, word); });
}

// A row that was filtered for is in sight whatever is closed around it.
bool RowLayout::inSight(std::size_t track) const {
  const std::size_t parent = timeline_->tracks[track].parent;
  return parent == kNoTrack || !filter_.empty() || (track_open_[parent] && !hidden_[parent]);
}

void RowLayout::addTrack(std::size_t track, bool pinned) {
  const TimelineTrack& shown = timeline_->tracks[track];
  Row row{.index = track, .y = height_, .open = track_open_[track], .pinned = pinned};
  row.nested = shown.parent != kNoTrack && !pinned;
  if (shown.kind == TrackKind::counter) {
    const int open_height = shown.memory ? 2 * metrics_.counter : metrics_.counter;
    row.height = track_open_[track] ? open_height : metrics_.lane;
  } else {
    row.lanes = std::max(1, track_open_[track] ? static_cast<int>(shown.lanes.size()) : 1);
    row.states = shown.states == nullptr ? 0 : metrics_.states;
    row.height = row.lanes * metrics_.lane + row.states;
  }
  height_ += row.height + metrics_.gap;
  if (row_of_track_[track] < 0) row_of_track_[track] = static_cast<int>(rows_.size());
  rows_.push_back(row);
}

void RowLayout::update() {
  rows_.clear();
  height_ = 0;
  ++version_;
  row_of_track_.assign(order_.size(), -1);
  if (!timeline_) return;
  for (const std::size_t track : order_) {
    if (pinned_[track] && !hidden_[track]) addTrack(track, true);
  }
  std::size_t process = timeline_->processes.size();
  for (const std::size_t track : order_) {
    if (!passes(track)) continue;
    if (timeline_->tracks[track].process != process) {
      process = timeline_->tracks[track].process;
      rows_.push_back({.is_process = true,
                       .index = process,
                       .y = height_,
                       .height = metrics_.process,
                       .open = process_open_[process]});
      height_ += metrics_.process + metrics_.gap;
    }
    if (process_open_[process] && !pinned_[track] && inSight(track)) addTrack(track, false);
  }
}

}  // namespace pitwall::gui
