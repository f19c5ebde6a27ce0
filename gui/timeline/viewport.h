// The time range that the timeline shows, and its width in pixels; with undo and redo.
#pragma once

#include <vector>

#include "db/units.h"

namespace pitwall::gui {

// What a frame is drawn from. Pixel x covers [timeAt(x), timeAt(x + 1)).
struct View {
  double start_ns = 0;
  double ns_per_px = 1;
  int width_px = 0;

  double timeAt(double x) const { return start_ns + x * ns_per_px; }
  double xOf(double time_ns) const { return (time_ns - start_ns) / ns_per_px; }
  double endNs() const { return timeAt(width_px); }
};

class Viewport {
 public:
  // The range of the whole trace; views stay within it and a little margin. Resets the view and its history.
  void setBounds(TimeNs begin_ns, TimeNs end_ns);
  void setWidth(int width_px);

  const View& view() const { return view_; }
  TimeNs beginNs() const { return begin_; }
  TimeNs endNs() const { return end_; }

  void panBy(double pixels);
  // factor < 1 zooms in. The time at pixel `x` does not move by more than half a pixel.
  void zoomAt(double x, double factor);
  // The range fills the view but for a margin of 5 % on either side. A range of 0 keeps the scale and is
  // centred.
  void show(double from_ns, double to_ns);
  void showAll();
  // Exactly this, as far as the bounds allow.
  void place(double start_ns, double ns_per_px);
  // Other bounds, the same view.
  void widenBounds(TimeNs begin_ns, TimeNs end_ns);

  // Remembers the present view; call before a change that undo should take back. Repeated calls without a
  // change remember one.
  void remember();
  bool undo();  // false: nothing to undo
  bool redo();

 private:
  void clamp();
  // What view() returns begins with a whole pixel, counted from time 0, so that panning moves the picture by
  // whole pixels.
  void snap();

  View view_;
  double start_ns_ = 0;  // of the view before snapping: small movements add up
  TimeNs begin_ = 0, end_ = 1;
  std::vector<View> past_, future_;
};

}  // namespace pitwall::gui
