#include "runtime/data/row_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "db/try.h"
#include "runtime/data/batch_storage.h"
#include "runtime/data/random.h"

namespace pitwall::data {
namespace {

class RowSource : public BatchSource {
 public:
  RowSource(Storage& storage, std::unique_ptr<Rows> rows, RowBatches options)
      : storage_(storage),
        rows_(std::move(rows)),
        options_(std::move(options)),
        first_(rows_->count() * options_.part_index / options_.num_parts),
        count_(rows_->count() * (options_.part_index + 1) / options_.num_parts - first_) {}

  std::int64_t rows() const { return count_; }

  std::int64_t batchesPerEpoch() const override {
    const std::int64_t full = count_ / options_.batch_size;
    const bool rest = count_ % options_.batch_size != 0 && options_.rest != RowBatches::Rest::discard;
    return full + (rest ? 1 : 0);
  }

  Status make(std::int64_t epoch, std::int64_t index, Batch& batch) override {
    const std::int64_t begin = index * options_.batch_size, left = count_ - begin;
    batch.items =
        options_.rest == RowBatches::Rest::keep ? std::min(left, options_.batch_size) : options_.batch_size;
    batch.padding = std::max<std::int64_t>(0, batch.items - left);
    batch.image_shape = {batch.items};
    for (int i = 0; i < options_.item_shape.rank(); ++i) batch.image_shape.append(options_.item_shape[i]);
    batch.dtype = DType::float32;
    batch.device = options_.device;
    batch.images.clear();
    const auto width = static_cast<std::size_t>(options_.label_width);
    batch.labels.resize(static_cast<std::size_t>(batch.items) * width);
    const auto elements = static_cast<std::size_t>(options_.item_shape.elements());
    const Bytes bytes = batch.image_shape.elements() * sizeOf(batch.dtype);
    if (batch.block.size() != bytes) {
      batch.block = {};
      batch.block = PITWALL_TRY(storage_.allocate(bytes, MemoryTag::data));
    }
    const std::span data(static_cast<float*>(batch.block.data()),
                         static_cast<std::size_t>(batch.items) * elements);
    const auto order = orderOf(epoch);
    std::string scratch;
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.items); ++i) {
      const std::int64_t at = (begin + static_cast<std::int64_t>(i)) % count_;
      const std::int64_t row = first_ + (order->empty() ? at : (*order)[static_cast<std::size_t>(at)]);
      PITWALL_TRY(rows_->read(row, data.subspan(i * elements, elements),
                              std::span(batch.labels).subspan(i * width, width), scratch));
    }
    return {};
  }

 private:
  using Order = std::vector<std::uint32_t>;

  // A function of seed and epoch alone, so that threads and the order of calls do not matter.
  std::shared_ptr<const Order> orderOf(std::int64_t epoch) {
    const ScopedLock lock(mutex_);
    if (order_epoch_ == epoch) return order_;
    auto order = std::make_shared<Order>();
    if (options_.shuffle) {
      order->resize(static_cast<std::size_t>(count_));
      std::iota(order->begin(), order->end(), 0U);
      Random random(options_.seed ^ static_cast<std::uint64_t>(epoch + 1) * 0xd1342543de82ef95U);
      for (std::size_t i = order->size(); i > 1; --i) std::swap((*order)[i - 1], (*order)[random.below(i)]);
    }
    order_epoch_ = epoch;
    order_ = std::move(order);
    return order_;
  }

  Storage& storage_;
  const std::unique_ptr<Rows> rows_;
  const RowBatches options_;
  const std::int64_t first_, count_;  // of this part
  Mutex mutex_;
  std::int64_t order_epoch_ PITWALL_GUARDED_BY(mutex_) = -1;
  std::shared_ptr<const Order> order_ PITWALL_GUARDED_BY(mutex_);
};

Failure refusedRows(const char* name, std::int64_t value, const std::string& allowed) {
  return fail(ErrorCode::invalidInput, fmt::format("{} is {}: {}", name, value, allowed));
}

}  // namespace

Status checkItemShape(const char* name, const Shape& shape) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  std::int64_t elements = 1;
  bool possible = shape.rank() >= 1 && shape.rank() < Shape::kMaxRank;
  for (int i = 0; possible && i < shape.rank(); ++i) {
    possible = shape[i] >= 1 && shape[i] <= kMostElements / elements;
    if (possible) elements *= shape[i];
  }
  if (possible) return {};
  return fail(ErrorCode::invalidInput, fmt::format("{} is {}: give the shape of one item, one axis to {}",
                                                   name, shape.toString(), Shape::kMaxRank - 1));
}

Result<std::unique_ptr<BatchIterator>> batchRows(Session& session, std::unique_ptr<Rows> rows,
                                                 RowBatches options) {
  if (options.batch_size < 1 || options.batch_size > 1'000'000)
    return refusedRows("batch_size", options.batch_size, "1 to 1000000 are allowed");
  if (options.num_parts < 1) return refusedRows("num_parts", options.num_parts, "must be at least 1");
  if (options.part_index < 0 || options.part_index >= options.num_parts)
    return refusedRows("part_index", options.part_index,
                       fmt::format("0 to {} are allowed", options.num_parts - 1));
  if (rows->count() > UINT32_MAX)
    return fail(ErrorCode::unsupported,
                fmt::format("{}: {} items: 4294967295 are possible", options.name, rows->count()));
  Storage* const storage = PITWALL_TRY(batchStorage(session, options.device));
  PrefetchOptions prefetch;
  prefetch.threads = static_cast<int>(session.tunable("prefetch_threads", options.threads, {0, 1024}));
  prefetch.depth = static_cast<int>(session.tunable("prefetch_depth", options.depth, {1, 1024}));
  const std::string name = options.name;
  const int part = options.part_index, parts = options.num_parts;
  const std::int64_t batch_size = options.batch_size;
  auto source = std::make_unique<RowSource>(*storage, std::move(rows), std::move(options));
  if (source->rows() == 0)
    return fail(ErrorCode::notFound,
                fmt::format("{}: there are no items{}", name,
                            parts > 1 ? fmt::format(" in part {} of {}", part, parts) : ""));
  if (source->batchesPerEpoch() == 0)
    return fail(
        ErrorCode::invalidInput,
        fmt::format("{}: {} items do not fill a batch of {}, and the rest of an epoch is left out: use a "
                    "smaller batch_size",
                    name, source->rows(), batch_size));
  return makeBatches(session, std::move(source), prefetch);
}

}  // namespace pitwall::data
