// Batches of an ImageDataset, reshuffled each epoch.
#pragma once

#include <array>
#include <cstdint>

#include "db/mutex.h"
#include "runtime/data.h"

namespace pitwall::data {

class ImageSource : public BatchSource {
 public:
  // Precondition: checkImages() succeeded.
  ImageSource(const ImageDataset& dataset, const BatchOptions& options);
  std::int64_t batchesPerEpoch() const override;
  Status make(std::int64_t epoch, std::int64_t index, Batch& batch) override;

 private:
  using Order = std::vector<std::uint32_t>;  // position in the epoch -> item; empty = unchanged
  std::shared_ptr<const Order> orderOf(std::int64_t epoch);

  const ImageDataset& dataset_;
  const BatchOptions options_;
  std::array<float, 256> brightness_;  // of a pixel, 0..1

  Mutex mutex_;
  std::int64_t order_epoch_ PITWALL_GUARDED_BY(mutex_) = -1;
  std::shared_ptr<const Order> order_ PITWALL_GUARDED_BY(mutex_);
};

Status checkImages(const ImageDataset& dataset, const BatchOptions& options);

}  // namespace pitwall::data
