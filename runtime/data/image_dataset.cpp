#include <fmt/format.h>

#include <filesystem>

#include "db/try.h"
#include "runtime/data.h"
#include "runtime/data/idx_file.h"

namespace pitwall::data {

Result<ImageDataset> readIdx(const std::string& images_path, const std::string& labels_path) {
  auto images = PITWALL_TRY(readIdxFile(images_path, 3));
  auto labels = PITWALL_TRY(readIdxFile(labels_path, 1));
  if (images.dimensions[0] != labels.dimensions[0]) {
    return fail(ErrorCode::invalidInput,
                fmt::format("{} has {} images, but {} has {} labels: not a pair", images_path,
                            images.dimensions[0], labels_path, labels.dimensions[0]));
  }
  ImageDataset dataset;
  dataset.count = images.dimensions[0];
  dataset.height = images.dimensions[1];
  dataset.width = images.dimensions[2];
  dataset.pixels = std::move(images.bytes);
  dataset.labels = std::move(labels.bytes);
  dataset.description = images_path;
  return dataset;
}

Result<ImageDataset> fashionMnist(Split split, const std::string& folder) {
  const std::string prefix = folder + (split == Split::train ? "/train" : "/t10k");
  const auto found = [&prefix](const std::string& rest) {
    for (const char* ending : {".gz", ""}) {
      std::error_code ignored;
      if (std::filesystem::exists(prefix + rest + ending, ignored)) return prefix + rest + ending;
    }
    return std::string();
  };
  const std::string images = found("-images-idx3-ubyte"), labels = found("-labels-idx1-ubyte");
  if (images.empty() || labels.empty()) {
    return fail(ErrorCode::notFound,
                fmt::format("{}-{} does not exist: install dataset-fashion-mnist: sudo apt-get install "
                            "dataset-fashion-mnist, or use --synthetic",
                            prefix, images.empty() ? "images-idx3-ubyte.gz" : "labels-idx1-ubyte.gz"));
  }
  auto dataset = PITWALL_TRY(readIdx(images, labels));
  dataset.description = fmt::format("Fashion-MNIST {}, {}", split == Split::train ? "train" : "test", folder);
  return dataset;
}

}  // namespace pitwall::data
