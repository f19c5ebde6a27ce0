// Lists of the images below a folder, as MXNet's im2rec.py --list makes them.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "db/try.h"
#include "runtime/image_records.h"

namespace im2rec {

struct ListOptions {
  std::vector<std::string> extensions = {".jpeg", ".jpg", ".png", ".webp"};
  bool recursive = false;  // each folder is a class, numbered in the order of names; else all labels are 0
  bool shuffle = true;
  int chunks = 1;
  double train_ratio = 1, test_ratio = 0;  // of the images; the rest is for validation
};

// Images with their labels; paths are relative to `root`, in the order of names. Exceptions: of std::filesystem.
inline std::vector<pitwall::data::ListedImage> findImages(const std::string& root,
                                                          const ListOptions& options) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  const auto take = [&](const fs::directory_entry& entry) {
    std::string extension = entry.path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (entry.is_regular_file() && std::ranges::count(options.extensions, extension) != 0)
      paths.push_back(fs::relative(entry.path(), root).string());
  };
  if (options.recursive)
    for (const auto& entry :
         fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink))
      take(entry);
  else
    for (const auto& entry : fs::directory_iterator(root)) take(entry);
  std::sort(paths.begin(), paths.end());
  std::map<std::string, float> classes;
  for (const std::string& path : paths) classes.emplace(fs::path(path).parent_path().string(), 0.0F);
  float number = 0;
  for (auto& [folder, label] : classes) label = number++;
  std::vector<pitwall::data::ListedImage> images;
  for (const std::string& path : paths)
    images.push_back(
        {images.size(), {options.recursive ? classes[fs::path(path).parent_path().string()] : 0}, path});
  return images;
}

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
