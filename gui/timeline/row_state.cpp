#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "gui/timeline/row_layout.h"

namespace pitwall::gui {

RowsKept RowLayout::kept() const {
  RowsKept kept;
  if (!timeline_) return kept;
  const auto idOf = [&](std::size_t track) { return timeline_->tracks[track].id.value; };
  if (!std::is_sorted(order_.begin(), order_.end())) {
    for (const std::size_t track : order_) kept.order.push_back(idOf(track));
  }
  for (std::size_t track = 0; track < order_.size(); ++track) {
    if (pinned_[track]) kept.pinned.push_back(idOf(track));
    if (hidden_[track]) kept.hidden.push_back(idOf(track));
    if (!track_open_[track]) kept.closed.push_back(idOf(track));
  }
  for (std::size_t process = 0; process < process_open_.size(); ++process) {
    if (!process_open_[process]) kept.closed_processes.push_back(static_cast<std::uint32_t>(process));
  }
  return kept;
}

void RowLayout::restore(const RowsKept& kept) {
  if (!timeline_) return;
  std::unordered_map<std::uint32_t, std::size_t> track_of;
  for (std::size_t track = 0; track < timeline_->tracks.size(); ++track)
    track_of.emplace(timeline_->tracks[track].id.value, track);
  const auto each = [&](const std::vector<std::uint32_t>& ids, const auto& act) {
    for (const std::uint32_t id : ids) {
      if (const auto at = track_of.find(id); at != track_of.end()) act(at->second);
    }
  };
  std::vector<std::size_t> order;
  std::vector<bool> placed(order_.size(), false);
  each(kept.order, [&](std::size_t track) {
    if (!placed[track]) order.push_back(track);
    placed[track] = true;
  });
  // All of them, and each process together: else the order is of another trace.
  const auto processOf = [&](std::size_t track) { return timeline_->tracks[track].process; };
  const bool whole = order.size() == order_.size();
  const auto byProcess = [&](std::size_t a, std::size_t b) { return processOf(a) < processOf(b); };
  if (whole && std::is_sorted(order.begin(), order.end(), byProcess)) order_ = std::move(order);
  each(kept.pinned, [&](std::size_t track) { pinned_[track] = true; });
  each(kept.hidden, [&](std::size_t track) { hidden_[track] = true; });
  std::fill(track_open_.begin(), track_open_.end(), true);
  each(kept.closed, [&](std::size_t track) { track_open_[track] = false; });
  for (const std::uint32_t process : kept.closed_processes) {
    if (process < process_open_.size()) process_open_[process] = false;
  }
  update();
}

}  // namespace pitwall::gui
