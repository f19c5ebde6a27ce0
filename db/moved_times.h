// Other times for the events of a copy of a trace.
#pragma once

#include "db/event.h"
#include "db/ids.h"
#include "db/units.h"

namespace pitwall {

class MovedTimes {
 public:
  virtual ~MovedTimes() = default;

  // Whether the copy has the track.
  virtual bool has(TrackId track) const = 0;
  // Gives an event of the track its times.
  virtual void move(TrackId track, Event& event) const = 0;
  // The time of a sample of the track; without a track, of an iteration mark.
  virtual TimeNs moved(TrackId track, TimeNs time_ns) const = 0;
};

}  // namespace pitwall
