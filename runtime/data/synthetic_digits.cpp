// Digits of a seven-segment display, each drawn with random shift, scale, slant, stroke width and brightness
// on a noisy background. Hard enough that a network has to learn, easy enough that it does.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/data.h"
#include "runtime/data/random.h"

namespace pitwall::data {

namespace {

constexpr int kSize = 28;

struct Point {
  float x, y;
};
struct Segment {
  Point from, to;
};

// In a box of 1 x 2: top, upper right, lower right, bottom, lower left, upper left, middle.
constexpr std::array<Segment, 7> kSegments = {{{{0, 0}, {1, 0}},
                                               {{1, 0}, {1, 1}},
                                               {{1, 1}, {1, 2}},
                                               {{0, 2}, {1, 2}},
                                               {{0, 1}, {0, 2}},
                                               {{0, 0}, {0, 1}},
                                               {{0, 1}, {1, 1}}}};
// The segments of each digit, first segment in the lowest bit.
constexpr std::array<unsigned, 10> kDigits = {0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f};

float distance(Point p, const Segment& s) {
  const float dx = s.to.x - s.from.x, dy = s.to.y - s.from.y;
  const float along = ((p.x - s.from.x) * dx + (p.y - s.from.y) * dy) / (dx * dx + dy * dy);
  const float t = std::clamp(along, 0.0F, 1.0F);
  return std::hypot(p.x - s.from.x - t * dx, p.y - s.from.y - t * dy);
}

struct Look {
  float left, top, width, half_height, slant, thickness, ink, noise;
};

Look randomLook(Random& random) {
  Look look{};
  look.width = random.between(7, 12);
  look.half_height = random.between(7, 10);
  look.left = random.between(3, 25 - look.width);
  look.top = random.between(2, 26 - 2 * look.half_height);
  look.slant = random.between(-0.15F, 0.15F);
  look.thickness = random.between(1.0F, 2.2F);
  look.ink = random.between(140, 255);
  look.noise = random.between(10, 60);
  return look;
}

void draw(unsigned digit, Random& random, std::uint8_t* pixels) {
  const Look look = randomLook(random);
  std::array<Segment, 7> segments{};
  const auto place = [&look](Point p) {
    const float y = p.y * look.half_height;
    return Point{look.left + p.x * look.width + look.slant * (look.half_height - y), look.top + y};
  };
  for (std::size_t s = 0; s < segments.size(); ++s) {
    segments[s] = {place(kSegments[s].from), place(kSegments[s].to)};
  }
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      float nearest = 100;
      for (std::size_t s = 0; s < segments.size(); ++s) {
        if ((kDigits[digit] >> s & 1U) == 0) continue;
        nearest = std::min(nearest, distance({static_cast<float>(x), static_cast<float>(y)}, segments[s]));
      }
      const float covered = std::clamp(look.thickness + 0.5F - nearest, 0.0F, 1.0F);
      const float value = look.ink * covered + random.between(0, look.noise);
      pixels[y * kSize + x] = static_cast<std::uint8_t>(std::min(value, 255.0F));
    }
  }
}

}  // namespace

ImageDataset syntheticDigits(std::int64_t count, std::uint64_t seed) {
  ImageDataset dataset;
  dataset.count = count;
  dataset.height = dataset.width = kSize;
  dataset.pixels.resize(static_cast<std::size_t>(count * kSize * kSize));
  dataset.labels.resize(static_cast<std::size_t>(count));
  Random random(seed);
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    dataset.labels[i] = static_cast<std::uint8_t>(random.below(10));
    draw(dataset.labels[i], random, dataset.pixels.data() + i * kSize * kSize);
  }
  dataset.description = "synthetic digits, generated";
  return dataset;
}

}  // namespace pitwall::data
