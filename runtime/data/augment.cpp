#include "runtime/data/augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "db/try.h"

namespace pitwall::data {
namespace {

// Beyond it random parts of an image are tried no more, and the centre is taken.
constexpr int kMostAttempts = 10;

int integerBetween(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low) + 1));
}

// The standard normal distribution, by the Box-Muller transform.
float normal(Random& random) {
  const float radius = std::sqrt(-2 * std::log(1 - random.between(0, 1)));
  return radius * std::cos(2 * std::numbers::pi_v<float> * random.between(0, 1));
}

Filter drawFilter(int inter_method, Random& random, bool reduces) {
  return inter_method == 10 ? static_cast<Filter>(random.below(5)) : filterOf(inter_method, reduces);
}

// A part of the image with a random area and aspect ratio.
bool randomPart(const ImageAugmentation& options, ImageSize stored, Random& random, Box& box) {
  const double area = static_cast<double>(stored.width) * stored.height;
  for (int i = 0; i < kMostAttempts; ++i) {
    const double target = area * random.between(options.min_random_area, options.max_random_area);
    const double ratio = random.between(options.min_aspect_ratio, options.max_aspect_ratio);
    const int width = static_cast<int>(std::lround(std::sqrt(target * ratio)));
    const int height = static_cast<int>(std::lround(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > stored.width || height > stored.height) continue;
    box = {static_cast<double>(integerBetween(random, 0, stored.width - width)),
           static_cast<double>(integerBetween(random, 0, stored.height - height)), static_cast<double>(width),
           static_cast<double>(height)};
    return true;
  }
  return false;
}

// The size after `resize`, and at least that of the result.
ImageSize resized(const ImageAugmentation& options, ImageSize stored, int least_width, int least_height) {
  const double shorter = std::min(stored.width, stored.height);
  double factor = options.resize > 0 ? options.resize / shorter : 1;
  factor = std::max({factor, static_cast<double>(least_width) / stored.width,
                     static_cast<double>(least_height) / stored.height});
  return {std::max(least_width, static_cast<int>(std::lround(stored.width * factor))),
          std::max(least_height, static_cast<int>(std::lround(stored.height * factor)))};
}

// Of the result into the canvas (the resized image with its border), then back to the image as stored.
Affine affineOf(const ImageAugmentation& options, ImageSize stored, ImageSize size, const Box& part,
                ImageSize result, Random& random) {
  const double degrees = options.rotate >= 0 ? static_cast<float>(options.rotate)
                                             : random.between(static_cast<float>(-options.max_rotate_angle),
                                                              static_cast<float>(options.max_rotate_angle));
  const double angle = degrees * std::numbers::pi / 180;
  const double shear = random.between(-options.max_shear_ratio, options.max_shear_ratio);
  const double scale = random.between(options.min_random_scale, options.max_random_scale);
  const double a = std::cos(angle), b = std::sin(angle);
  // Forward: scale * (rotation, then shear along x); its inverse.
  const double m00 = scale * (a - shear * b), m01 = scale * (b + shear * a), m10 = -scale * b,
               m11 = scale * a;
  const double determinant = m00 * m11 - m01 * m10;
  const double i00 = m11 / determinant, i01 = -m01 / determinant, i10 = -m10 / determinant,
               i11 = m00 / determinant;
  const double step_x = part.width / result.width, step_y = part.height / result.height;
  // Canvas coordinates relative to its centre of the result's (0, 0).
  const double from_x = part.left - size.width / 2.0, from_y = part.top - size.height / 2.0;
  const double to_x = static_cast<double>(stored.width) / size.width;
  const double to_y = static_cast<double>(stored.height) / size.height;
  Affine affine;
  affine.xx = to_x * i00 * step_x;
  affine.xy = to_x * i01 * step_y;
  affine.x0 = to_x * (i00 * from_x + i01 * from_y) + stored.width / 2.0;
  affine.yx = to_y * i10 * step_x;
  affine.yy = to_y * i11 * step_y;
  affine.y0 = to_y * (i10 * from_x + i11 * from_y) + stored.height / 2.0;
  return affine;
}

void drawGeometry(const ImageAugmentation& options, ImageSize stored, ImageSize result, Random& random,
                  DrawnAugmentation& drawn) {
  if (options.random_resized_crop && randomPart(options, stored, random, drawn.box)) {
    drawn.filter = drawFilter(options.inter_method, random, drawn.box.width > result.width);
    return;
  }
  int width = result.width, height = result.height;
  if (options.min_crop_size > 0) {
    const int length = integerBetween(random, options.min_crop_size, options.max_crop_size);
    width = height = length;
  }
  const int pad = options.pad;
  const ImageSize size = resized(options, stored, width - 2 * pad, height - 2 * pad);
  const int free_x = size.width + 2 * pad - width, free_y = size.height + 2 * pad - height;
  const Box part{
      static_cast<double>((options.rand_crop ? integerBetween(random, 0, free_x) : free_x / 2) - pad),
      static_cast<double>((options.rand_crop ? integerBetween(random, 0, free_y) : free_y / 2) - pad),
      static_cast<double>(width), static_cast<double>(height)};
  drawn.filter = drawFilter(options.inter_method, random, size.width < stored.width);
  const bool turns = options.rotate > 0 || options.max_rotate_angle > 0 || options.max_shear_ratio > 0 ||
                     options.min_random_scale != 1 || options.max_random_scale != 1;
  if (turns || pad > 0) {
    drawn.affine = affineOf(options, stored, size, part, result, random);
    return;
  }
  const double to_x = static_cast<double>(stored.width) / size.width;
  const double to_y = static_cast<double>(stored.height) / size.height;
  drawn.box = {part.left * to_x, part.top * to_y, part.width * to_x, part.height * to_y};
}

void drawColors(const ImageAugmentation& options, Random& random, DrawnAugmentation& drawn) {
  const auto factor = [&random](float range) { return range > 0 ? 1 + random.between(-range, range) : 1; };
  const auto added = [&random](int range) {
    return range > 0 ? random.between(static_cast<float>(-range), static_cast<float>(range)) : 0;
  };
  drawn.brightness = factor(options.brightness);
  drawn.contrast = factor(options.contrast);
  drawn.saturation = factor(options.saturation);
  drawn.order = static_cast<int>(random.below(6));
  drawn.hue = added(options.random_h);
  drawn.hsl_saturation = added(options.random_s);
  drawn.lightness = added(options.random_l);
  if (options.pca_noise > 0) {
    // Eigenvectors and eigenvalues of ImageNet's colours, of Krizhevsky et al., 2012, in units of 0..255.
    constexpr float kValues[3] = {55.46F, 4.794F, 1.148F};
    constexpr float kVectors[3][3] = {
        {-0.5675F, 0.7192F, 0.4009F}, {-0.5808F, -0.0045F, -0.8140F}, {-0.5836F, -0.6948F, 0.4203F}};
    for (int v = 0; v < 3; ++v) {
      const float share = options.pca_noise * normal(random) * kValues[v];
      for (int c = 0; c < 3; ++c) drawn.principal[c] += kVectors[c][v] * share;
    }
  }
  drawn.changes_colors = options.brightness > 0 || options.contrast > 0 || options.saturation > 0 ||
                         options.random_h > 0 || options.random_s > 0 || options.random_l > 0 ||
                         options.pca_noise > 0;
}

Status outside(const char* name, double value, const char* allowed) {
  return fail(ErrorCode::invalidInput, fmt::format("{} is {}: {}", name, value, allowed));
}

}  // namespace

Status checkAugmentation(const ImageAugmentation& o) {
  const bool known =
      (o.inter_method >= 0 && o.inter_method <= 4) || o.inter_method == 9 || o.inter_method == 10;
  if (!known) return outside("inter_method", o.inter_method, "0 to 4, 9 and 10 are allowed");
  if (o.resize > 65535) return outside("resize", o.resize, "at most 65535 is allowed");
  if (!(o.min_random_area > 0) || !(o.max_random_area >= o.min_random_area) || !(o.max_random_area <= 1))
    return outside("min_random_area", o.min_random_area,
                   "must be above 0 and at most max_random_area, which is at most 1");
  if (!(o.min_aspect_ratio > 0) || !(o.max_aspect_ratio >= o.min_aspect_ratio) || o.max_aspect_ratio > 1000)
    return outside("min_aspect_ratio", o.min_aspect_ratio, "must be above 0 and at most max_aspect_ratio");
  if (!(o.min_random_scale > 0) || !(o.max_random_scale >= o.min_random_scale) || o.max_random_scale > 1000)
    return outside("min_random_scale", o.min_random_scale, "must be above 0 and at most max_random_scale");
  if (o.max_rotate_angle < 0 || o.max_rotate_angle > 360)
    return outside("max_rotate_angle", o.max_rotate_angle, "0 to 360 are allowed");
  if (o.rotate > 360) return outside("rotate", o.rotate, "-1 to 360 are allowed");
  if (!(o.max_shear_ratio >= 0) || o.max_shear_ratio > 10)
    return outside("max_shear_ratio", o.max_shear_ratio, "0 to 10 are allowed");
  if (o.pad < 0 || o.pad > 10000) return outside("pad", o.pad, "0 to 10000 are allowed");
  if (o.fill_value < 0 || o.fill_value > 255)
    return outside("fill_value", o.fill_value, "0 to 255 are allowed");
  const bool sizes = (o.min_crop_size <= 0 && o.max_crop_size <= 0) ||
                     (o.min_crop_size > 0 && o.max_crop_size >= o.min_crop_size && o.max_crop_size <= 65535);
  if (!sizes)
    return outside("min_crop_size", o.min_crop_size,
                   "both crop sizes must be given, the maximum not below the minimum");
  for (const auto& [name, value] : {std::pair{"brightness", o.brightness},
                                    {"contrast", o.contrast},
                                    {"saturation", o.saturation},
                                    {"pca_noise", o.pca_noise}})
    if (!(value >= 0) || value > 1) return outside(name, value, "0 to 1 are allowed");
  for (const auto& [name, value] :
       {std::pair{"random_h", o.random_h}, {"random_s", o.random_s}, {"random_l", o.random_l}})
    if (value < 0 || value > 255) return outside(name, value, "0 to 255 are allowed");
  return {};
}

DrawnAugmentation drawAugmentation(const ImageAugmentation& options, ImageSize stored, ImageSize result,
                                   Random random) {
  DrawnAugmentation drawn;
  drawn.mirror = options.mirror;
  if (options.rand_mirror) drawn.mirror = (random.next() >> 63U) != 0;
  drawGeometry(options, stored, result, random, drawn);
  drawColors(options, random, drawn);
  return drawn;
}

Wanted wantedFor(const DrawnAugmentation& drawn, ImageSize stored, ImageSize result, int channels) {
  Wanted wanted{0, 0, stored.width, stored.height, 1, channels};
  if (drawn.affine) return wanted;
  const double scale = std::min(drawn.box.width / result.width, drawn.box.height / result.height);
  // Area and Lanczos sampling of a reduced image differ from those of the whole one.
  if (drawn.filter == Filter::linear || drawn.filter == Filter::cubic || drawn.filter == Filter::area)
    while (wanted.reduce < 8 && scale >= 2 * wanted.reduce) wanted.reduce *= 2;
  const int reach = reachOf(drawn.filter, scale / wanted.reduce) * wanted.reduce;
  wanted.left = std::clamp(static_cast<int>(std::floor(drawn.box.left)) - reach, 0, stored.width - 1);
  wanted.top = std::clamp(static_cast<int>(std::floor(drawn.box.top)) - reach, 0, stored.height - 1);
  const double right = drawn.box.left + drawn.box.width, bottom = drawn.box.top + drawn.box.height;
  wanted.width =
      std::clamp(static_cast<int>(std::ceil(right)) + reach, wanted.left + 1, stored.width) - wanted.left;
  wanted.height =
      std::clamp(static_cast<int>(std::ceil(bottom)) + reach, wanted.top + 1, stored.height) - wanted.top;
  return wanted;
}

void applyGeometry(const DrawnAugmentation& drawn, int fill_value, const Pixels& decoded,
                   Resampler& resampler, Pixels& result) {
  if (drawn.affine) return warp(decoded, *drawn.affine, fill_value, result);
  const double by = 1.0 / decoded.reduce;
  resampler.run(decoded,
                {drawn.box.left * by, drawn.box.top * by, drawn.box.width * by, drawn.box.height * by},
                drawn.filter, result);
}

}  // namespace pitwall::data
