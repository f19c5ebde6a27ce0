// Along what waited for what, step by step and back.
#include <algorithm>

#include "gui/views/timeline_view.h"

namespace pitwall::gui {

void TimelineView::setArrows(std::vector<std::pair<EventRef, EventRef>> arrows) {
  state_.arrows = std::move(arrows);
  arrows_known_ = true;
  viewport()->update();
  if (const auto forward = std::exchange(follow_asked_, std::nullopt)) follow(*forward);
}

// To what waited for the selected event, or to what it waited for: the one that held it back. The opposite key goes back to where one
// came from. Where arrows are not known yet, as soon as they are.
void TimelineView::follow(bool forward) {
  if (!state_.selected) return;
  const EventRef here = *state_.selected;
  if (!followed_.empty() && followed_.back().to != here) followed_.clear();
  if (!followed_.empty() && followed_.back().forward != forward) {
    const EventRef back = followed_.back().from;
    followed_.pop_back();
    auto kept = std::move(followed_);
    selectOnPath(back);
    followed_ = std::move(kept);
    return;
  }
  if (!arrows_known_) {
    follow_asked_ = forward;
    return;
  }
  const auto next = std::ranges::find_if(
      state_.arrows, [&](const auto& arrow) { return (forward ? arrow.first : arrow.second) == here; });
  if (next == state_.arrows.end())
    return emit remarked(forward ? tr("The trace records nothing that waited for it.")
                                 : tr("The trace records nothing that it waited for."));
  const EventRef to = forward ? next->second : next->first;
  followed_.push_back({here, to, forward});
  selectOnPath(to);
}

}  // namespace pitwall::gui
