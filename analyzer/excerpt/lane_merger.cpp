#include "analyzer/excerpt/lane_merger.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace pitwall::excerpt {

void LaneMerger::add(const ReportTimeline::Piece& piece) {
  if (piece.dur_ns >= width_ns_) {
    long_.push_back(piece);
  } else {
    merge(piece, piece.dur_ns);
  }
}

void LaneMerger::merge(const ReportTimeline::Piece& piece, TimeNs longest_ns) {
  const TimeNs place = (piece.start_ns - begin_ns_) / width_ns_;
  const auto [at, is_new] = parts_.try_emplace(place, Part{piece, longest_ns});
  if (is_new) return;
  Part& part = at->second;
  const TimeNs end = std::max(part.piece.start_ns + part.piece.dur_ns, piece.start_ns + piece.dur_ns);
  part.piece.start_ns = std::min(part.piece.start_ns, piece.start_ns);
  part.piece.dur_ns = end - part.piece.start_ns;
  part.piece.count += piece.count;
  // Of equally long ones the lesser item, so that the order of the events does not matter.
  if (longest_ns > part.longest_ns || (longest_ns == part.longest_ns && piece.item < part.piece.item)) {
    part.longest_ns = longest_ns;
    part.piece.item = piece.item;
  }
}

void LaneMerger::coarsen() {
  width_ns_ = width_ns_ > INT64_MAX / 2 ? INT64_MAX : 2 * width_ns_;
  auto parts = std::exchange(parts_, {});
  auto pieces = std::exchange(long_, {});
  for (const auto& [place, part] : parts) merge(part.piece, part.longest_ns);
  for (const auto& piece : pieces) add(piece);
}

std::vector<ReportTimeline::Piece> LaneMerger::pieces() const {
  std::vector<ReportTimeline::Piece> all = long_;
  for (const auto& [place, part] : parts_) all.push_back(part.piece);
  std::sort(all.begin(), all.end(), [](const ReportTimeline::Piece& a, const ReportTimeline::Piece& b) {
    return std::tie(a.start_ns, b.dur_ns, a.item) < std::tie(b.start_ns, a.dur_ns, b.item);
  });
  return all;
}

}  // namespace pitwall::excerpt
