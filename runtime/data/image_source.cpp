#include "runtime/data/image_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/data/random.h"

namespace pitwall::data {

Status checkImages(const ImageDataset& dataset, const BatchOptions& options) {
  const auto wrong = [](std::string text) { return fail(ErrorCode::invalidInput, std::move(text)); };
  const std::int64_t pixels = dataset.count * dataset.channels * dataset.height * dataset.width;
  if (options.batch_size < 1)
    return wrong(fmt::format("batch_size is {}: must be at least 1", options.batch_size));
  if (dataset.count < 1 || dataset.count > UINT32_MAX) {
    return wrong(fmt::format("the data set has {} items: 1 to 4294967295 are possible", dataset.count));
  }
  if (pixels != static_cast<std::int64_t>(dataset.pixels.size()) ||
      dataset.count != static_cast<std::int64_t>(dataset.labels.size())) {
    return wrong(fmt::format(
        "the data set should have {} x {} x {} x {} pixels, but has {} pixels and {} labels", dataset.count,
        dataset.channels, dataset.height, dataset.width, dataset.pixels.size(), dataset.labels.size()));
  }
  if (options.drop_last && dataset.count < options.batch_size) {
    return wrong(fmt::format("drop_last leaves nothing of {} items in batches of {}", dataset.count,
                             options.batch_size));
  }
  return {};
}

ImageSource::ImageSource(const ImageDataset& dataset, const BatchOptions& options)
    : dataset_(dataset), options_(options) {
  for (std::size_t i = 0; i < brightness_.size(); ++i) brightness_[i] = static_cast<float>(i) / 255.0F;
}

std::int64_t ImageSource::batchesPerEpoch() const {
  const std::int64_t full = dataset_.count / options_.batch_size;
  const bool rest = dataset_.count % options_.batch_size != 0 && !options_.drop_last;
  return full + (rest ? 1 : 0);
}

std::shared_ptr<const ImageSource::Order> ImageSource::orderOf(std::int64_t epoch) {
  const ScopedLock lock(mutex_);
  if (order_epoch_ == epoch) return order_;
  auto order = std::make_shared<Order>();
  if (options_.shuffle) {
    order->resize(static_cast<std::size_t>(dataset_.count));
    std::iota(order->begin(), order->end(), 0U);
    // A function of seed and epoch only, so that threads and order of calls do not matter.
    Random random(options_.seed ^ static_cast<std::uint64_t>(epoch + 1) * 0xd1342543de82ef95U);
    for (std::size_t i = order->size() - 1; i > 0; --i) std::swap((*order)[i], (*order)[random.below(i + 1)]);
  }
  order_epoch_ = epoch;
  order_ = std::move(order);
  return order_;
}

Status ImageSource::make(std::int64_t epoch, std::int64_t index, Batch& batch) {
  const std::shared_ptr<const Order> order = orderOf(epoch);
  const std::int64_t first = index * options_.batch_size;
  const std::int64_t items = std::min(options_.batch_size, dataset_.count - first);
  const auto item_size = static_cast<std::size_t>(dataset_.channels * dataset_.height * dataset_.width);
  batch.items = items;
  batch.image_shape = {items, dataset_.channels, dataset_.height, dataset_.width};
  batch.images.resize(static_cast<std::size_t>(items) * item_size);
  batch.labels.resize(static_cast<std::size_t>(items));
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    const std::size_t position = static_cast<std::size_t>(first) + i;
    const std::size_t item = order->empty() ? position : (*order)[position];
    const std::uint8_t* from = dataset_.pixels.data() + item * item_size;
    float* to = batch.images.data() + i * item_size;
    for (std::size_t p = 0; p < item_size; ++p) to[p] = brightness_[from[p]];
    batch.labels[i] = static_cast<float>(dataset_.labels[item]);
  }
  return {};
}

}  // namespace pitwall::data
