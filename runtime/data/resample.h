// Samples a rectangle of an image at the pixels of another size.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/data/decode/decoder.h"

namespace pitwall::data {

// Numbers of MXNet's inter_method.
enum class Filter : std::uint8_t { nearest = 0, linear = 1, cubic = 2, area = 3, lanczos = 4 };

// 0 to 4 by number; 9: area where the image becomes smaller, cubic where it does not.
inline Filter filterOf(int inter_method, bool reduces) {
  if (inter_method == 9) return reduces ? Filter::area : Filter::cubic;
  return static_cast<Filter>(inter_method);
}

// A rectangle in pixels of the image, whose pixel x covers [x, x + 1). It may reach beyond the image, where the
// pixels at its edge continue.
struct Box {
  double left = 0, top = 0, width = 0, height = 0;
};

// Which pixels of the image each pixel of one axis of the result is made of.
struct Taps {
  int count = 0;              // for each pixel of the result
  std::vector<int> index;     // count for each: of pixels within what was decoded
  std::vector<float> weight;  // their sum is 1 for each
};

// `extent` pixels of the image exist, of which those from `first` on are decoded.
void makeTaps(Filter filter, double start, double length, int pixels, int extent, int first, int decoded,
              Taps& taps);

// How many pixels around a rectangle its samples need.
int reachOf(Filter filter, double scale);

class Resampler {
 public:
  // The box, in pixels of the reduced image of `from`, as `to.width` x `to.height` pixels; other members of `to` are set.
  void run(const Pixels& from, const Box& box, Filter filter, Pixels& to);

 private:
  void linear(const Pixels& from, Pixels& to);
  void general(const Pixels& from, Pixels& to);

  Taps columns_, rows_;
  std::vector<int> offsets_;
  std::vector<std::uint32_t> weights_;
  std::vector<std::uint16_t> row_;
  std::vector<float> sums_;
};

// Where each pixel of the result is in the image: x' = xx x + xy y + x0, y' = yx x + yy y + y0, pixel centres at .5.
struct Affine {
  double xx = 1, xy = 0, x0 = 0, yx = 0, yy = 1, y0 = 0;
};

// Linear sampling; `fill` is around the image.
void warp(const Pixels& from, const Affine& affine, int fill, Pixels& to);

}  // namespace pitwall::data
