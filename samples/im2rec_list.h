// Lists of the images below a folder, as MXNet's im2rec.py --list makes them.
#pragma once

#include <algorithm>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "db/try.h"
#include "runtime/image_records.h"

namespace im2rec {

struct ListOptions {
  pitwall::data::ImageSearch search = {.recursive = false};
  bool shuffle = true;
  int chunks = 1;
  double train_ratio = 1, test_ratio = 0;  // of the images; the rest is for validation
};

// Writes PREFIX.lst, or of several chunks PREFIX_0.lst and so on, each divided into _train, _val and _test as the ratios
// say. Each appears when it is complete. Errors: those of writeImageList().
inline pitwall::Status writeLists(const std::string& prefix, std::vector<pitwall::data::ListedImage> images,
                                  const ListOptions& options) {
  if (options.shuffle) std::shuffle(images.begin(), images.end(), std::mt19937_64(100));
  const auto write = [&](const std::string& name, std::size_t begin, std::size_t end) -> pitwall::Status {
    if (begin == end) return {};
    PITWALL_TRY(pitwall::data::writeImageList(name, std::span(images).subspan(begin, end - begin)));
    std::printf("%s: %zu images\n", name.c_str(), end - begin);
    return {};
  };
  const auto chunks = static_cast<std::size_t>(options.chunks);
  for (std::size_t c = 0; c < chunks; ++c) {
    const std::size_t begin = images.size() * c / chunks, end = images.size() * (c + 1) / chunks;
    const std::string name = chunks > 1 ? prefix + "_" + std::to_string(c) : prefix;
    const double count = static_cast<double>(end - begin);
    const std::size_t test = begin + static_cast<std::size_t>(count * options.test_ratio);
    const std::size_t train = std::min(end, test + static_cast<std::size_t>(count * options.train_ratio));
    if (options.train_ratio == 1 && options.test_ratio == 0) {
      PITWALL_TRY(write(name + ".lst", begin, end));
      continue;
    }
    PITWALL_TRY(write(name + "_test.lst", begin, test));
    PITWALL_TRY(write(name + "_train.lst", test, train));
    PITWALL_TRY(write(name + "_val.lst", train, end));
  }
  return {};
}

}  // namespace im2rec
