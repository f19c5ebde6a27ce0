// Frames of the timeline for timeline_bench.
#pragma once

#include "gui/timeline/timeline.h"

namespace pitwall::bench {

// Whole frames of the widget, 1920 x 1080: full redraws, movements, zooms. Returns the median of a full
// redraw in ms.
double measureFrames(const std::shared_ptr<const gui::Timeline>& timeline, int frames);
// A trace of very many tracks.
void measureManyTracks(const std::shared_ptr<const gui::Timeline>& timeline, int frames);
// The full redraw of a larger trace, as a ratio to that.
void measureLarge(const std::shared_ptr<const gui::Timeline>& timeline, int frames, double full);

}  // namespace pitwall::bench
