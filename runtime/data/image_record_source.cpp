#include "runtime/data/image_record_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "db/try.h"

namespace pitwall::data {
namespace {

// Independent numbers for each of what the seed is combined with.
std::uint64_t mixed(std::uint64_t seed, std::int64_t with) {
  Random random(seed + 0x632be59bd9b4e019U * static_cast<std::uint64_t>(with + 1));
  return random.next();
}

void shuffle(std::uint32_t* first, std::size_t count, Random random) {
  for (std::size_t i = count; i > 1; --i) std::swap(first[i - 1], first[random.below(i)]);
}

}  // namespace

struct ImageRecordSource::Scratch {
  std::vector<std::uint8_t> record;
  ImageHeader header;
  ImageReader reader;
  Pixels decoded, result;
  Resampler resampler;
};

struct ImageRecordSource::Lease {
  explicit Lease(ImageRecordSource& of) : source(of) {
    const ScopedLock lock(source.mutex_);
    if (source.scratch_.empty()) return;
    scratch = std::move(source.scratch_.back());
    source.scratch_.pop_back();
  }
  ~Lease() {
    const ScopedLock lock(source.mutex_);
    source.scratch_.push_back(std::move(scratch));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Scratch& get() {
    if (scratch == nullptr) scratch = std::make_unique<Scratch>();
    return *scratch;
  }

  ImageRecordSource& source;
  std::unique_ptr<Scratch> scratch;
};

struct ImageRecordSource::Place {
  std::int64_t position;  // in the epoch
  std::uint32_t record;
  std::byte* image;
  float* labels;
};

ImageRecordSource::ImageRecordSource(Session& session, Storage& storage, const ImageRecordOptions& options,
                                     Input input)
    : options_(options),
      input_(std::move(input)),
      storage_(storage),
      profiler_(session.profiler()),
      read_site_(profiler_.site("read", EventKind::dataWork)),
      decode_site_(profiler_.site("decode", EventKind::dataWork)),
      augment_site_(profiler_.site("augment", EventKind::dataWork)),
      skipped_site_(profiler_.site("image skipped", EventKind::instant)),
      key_site_(profiler_.site("record", EventKind::instant)),
      why_site_(profiler_.site("why", EventKind::instant)),
      result_size_{options.data_shape[2], options.data_shape[1]} {
  const float means[] = {options.mean_r, options.mean_g, options.mean_b};
  const float deviations[] = {options.std_r, options.std_g, options.std_b};
  for (std::size_t c = 0; c < 3; ++c) {
    scale_.mean[c] = means[c];
    scale_.factor[c] = options.scale / deviations[c];
  }
}

ImageRecordSource::~ImageRecordSource() = default;

std::int64_t ImageRecordSource::batchesPerEpoch() const {
  const auto count = static_cast<std::int64_t>(input_.records.places.size());
  return (count + options_.batch_size - 1) / options_.batch_size;
}

ImageRecordSource::Order ImageRecordSource::shuffled(std::int64_t epoch) const {
  const auto& places = input_.records.places;
  Order order(places.size());
  std::iota(order.begin(), order.end(), 0U);
  if (options_.shuffle_chunk_size == 0) {
    shuffle(order.data(), order.size(), Random(mixed(options_.seed, epoch)));
    return order;
  }
  const Bytes chunk_bytes = Bytes{options_.shuffle_chunk_size} << 20;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chunks;  // first record and end
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const bool full = !chunks.empty() &&
                      places[i].offset + places[i].bytes - places[chunks.back().first].offset > chunk_bytes;
    if (chunks.empty() || full) chunks.emplace_back(i, i);
    chunks.back().second = i + 1;
  }
  Order of_chunks(chunks.size());
  std::iota(of_chunks.begin(), of_chunks.end(), 0U);
  shuffle(of_chunks.data(), of_chunks.size(), Random(mixed(options_.shuffle_chunk_seed, epoch)));
  Order result;
  for (const std::uint32_t chunk : of_chunks) {
    const auto [first, end] = chunks[chunk];
    shuffle(order.data() + first, end - first, Random(mixed(mixed(options_.seed, epoch), chunk)));
    result.insert(result.end(), order.begin() + first, order.begin() + end);
  }
  return result;
}

std::shared_ptr<const ImageRecordSource::Order> ImageRecordSource::orderOf(std::int64_t epoch) {
  const ScopedLock lock(mutex_);
  if (order_epoch_ != epoch) {
    order_ = std::make_shared<const Order>(options_.shuffle ? shuffled(epoch) : Order());
    order_epoch_ = epoch;
  }
  return order_;
}

// Neighbours are read in one piece.
void ImageRecordSource::readAhead(const std::vector<Place>& places) const {
  Bytes begin = 0, end = 0;
  for (const Place& place : places) {
    const RecordPlace& next = input_.records.places[place.record];
    if (next.offset != end) {
      if (end > begin) input_.file->readAhead(begin, end - begin);
      begin = next.offset;
    }
    end = next.offset + next.bytes;
  }
  if (end > begin) input_.file->readAhead(begin, end - begin);
}

Status ImageRecordSource::prepare(std::int64_t index, Batch& batch) {
  const auto count = static_cast<std::int64_t>(input_.records.places.size());
  const std::int64_t left = count - index * options_.batch_size;
  const auto [channels, height, width] = options_.data_shape;
  batch.items = options_.round_batch ? options_.batch_size : std::min(left, options_.batch_size);
  batch.padding = std::max<std::int64_t>(0, batch.items - left);
  batch.image_shape = {batch.items, channels, height, width};
  batch.dtype = options_.dtype;
  batch.device = options_.device;
  batch.images.clear();
  batch.labels.resize(static_cast<std::size_t>(batch.items * options_.label_width));
  const Bytes bytes = batch.image_shape.elements() * sizeOf(batch.dtype);
  if (batch.block.size() == bytes) return {};
  batch.block = {};
  batch.block = PITWALL_TRY(storage_.allocate(bytes, MemoryTag::data));
  return {};
}

Status ImageRecordSource::make(std::int64_t epoch, std::int64_t index, Batch& batch) {
  PITWALL_TRY(prepare(index, batch));
  const auto order = orderOf(epoch);
  const std::size_t count = input_.records.places.size();
  const auto items = static_cast<std::size_t>(batch.items);
  const std::size_t image_bytes = static_cast<std::size_t>(batch.block.size()) / items;
  const auto label_width = static_cast<std::size_t>(options_.label_width);
  std::vector<Place> places;
  for (std::size_t i = 0; i < items; ++i) {
    const std::int64_t position = index * options_.batch_size + static_cast<std::int64_t>(i);
    const std::size_t at = static_cast<std::size_t>(position) % count;
    places.push_back({position, order->empty() ? static_cast<std::uint32_t>(at) : (*order)[at],
                      static_cast<std::byte*>(batch.block.data()) + i * image_bytes,
                      batch.labels.data() + i * label_width});
  }
  readAhead(places);
  Lease lease(*this);
  std::vector<bool> good(items);
  std::string first_error;
  for (std::size_t i = 0; i < items; ++i) {
    bool unusable = false;
    const Status made = makeImage(epoch, places[i], lease.get(), unusable);
    if (unusable) return fail(made.error());
    good[i] = made.has_value();
    if (good[i]) continue;
    if (input_.file->hasChanged())
      return fail(ErrorCode::io,
                  fmt::format("{}: was written anew while it was read; record {} was at byte {}: {}; write a "
                              "new file and rename it instead, and start again",
                              options_.path_imgrec, input_.records.places[places[i].record].key,
                              input_.records.places[places[i].record].offset, made.error().message));
    if (first_error.empty()) first_error = made.error().message;
    noteSkipped(places[i].record, made.error().message);
  }
  if (std::find(good.begin(), good.end(), true) == good.end())
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: none of the {} images of batch {} can be used; the first: {}",
                            input_.paths.empty() ? options_.path_imgrec : options_.path_root, items, index,
                            first_error));
  for (std::size_t i = 0; i < items; ++i) {
    if (good[i]) continue;
    std::size_t from = i;
    while (!good[from]) from = (from + 1) % items;
    std::memcpy(places[i].image, places[from].image, image_bytes);
    std::copy_n(places[from].labels, label_width, places[i].labels);
  }
  return {};
}

Status ImageRecordSource::readRecord(const Place& place, Scratch& scratch,
                                     std::span<const std::uint8_t>& image, bool& unusable) {
  const RecordPlace& at = input_.records.places[place.record];
  {
    ScopedSpan span(profiler_, read_site_);
    auto read = input_.file->read(at, scratch.record);
    unusable = !read.has_value() && read.error().code == ErrorCode::io;
    if (!read.has_value()) return fail(read.error());
    image = read->bytes;
    span.setValue(static_cast<std::int64_t>(image.size()));
  }
  PITWALL_TRY(takeImageHeader(image, scratch.header));
  const std::vector<float>* labels = &scratch.header.labels;
  if (!input_.labels.empty()) {
    const auto listed = input_.labels.find(scratch.header.id);
    if (listed == input_.labels.end())
      return fail(ErrorCode::invalidInput,
                  fmt::format("its id {} is not in {}", scratch.header.id, options_.path_imglist));
    labels = &listed->second;
  }
  unusable = labels->size() < static_cast<std::size_t>(options_.label_width);
  if (unusable)
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: record {} has {} labels: label_width {} is too large", options_.path_imgrec,
                            at.key, labels->size(), options_.label_width));
  std::copy_n(labels->begin(), options_.label_width, place.labels);
  return {};
}

Status ImageRecordSource::makeImage(std::int64_t epoch, const Place& place, Scratch& scratch,
                                    bool& unusable) {
  std::span<const std::uint8_t> image;
  PITWALL_TRY(readRecord(place, scratch, image, unusable));
  DrawnAugmentation drawn;
  {
    ScopedSpan span(profiler_, decode_site_);
    span.setValue(static_cast<std::int64_t>(image.size()));
    const ImageSize stored = PITWALL_TRY(scratch.reader.begin(image));
    const std::uint64_t seed = options_.seed_aug == 0 ? options_.seed : options_.seed_aug;
    drawn = drawAugmentation(options_.augment, stored, result_size_,
                             Random(mixed(mixed(seed, epoch), place.position)));
    PITWALL_TRY(
        scratch.reader.read(wantedFor(drawn, stored, result_size_, options_.data_shape[0]), scratch.decoded));
  }
  ScopedSpan span(profiler_, augment_site_);
  scratch.result.width = result_size_.width;
  scratch.result.height = result_size_.height;
  applyGeometry(drawn, options_.augment.fill_value, scratch.decoded, scratch.resampler, scratch.result);
  if (drawn.changes_colors) changeColors(drawn, scratch.result);
  store(scratch.result, drawn.mirror, place.image);
  span.setValue(static_cast<std::int64_t>(scratch.result.bytes.size()));
  return {};
}

void ImageRecordSource::store(const Pixels& pixels, bool mirror, std::byte* to) const {
  if (options_.dtype == DType::uint8)
    storePlanes(pixels, mirror, reinterpret_cast<std::uint8_t*>(to));
  else
    storePlanes(pixels, mirror, scale_, reinterpret_cast<float*>(to));
}

void ImageRecordSource::noteSkipped(std::uint32_t record, const std::string& why) {
  Arguments arguments;
  arguments.add(key_site_, static_cast<std::int64_t>(input_.records.places[record].key));
  arguments.add(why_site_, std::string_view(why));
  profiler_.instant(skipped_site_, 1, &arguments);
  const ScopedLock lock(mutex_);
  skipped_.emplace(record, why);
}

ImageRecordSummary ImageRecordSource::summary() const {
  ImageRecordSummary summary;
  summary.images = static_cast<std::int64_t>(input_.records.places.size());
  summary.damages = input_.records.damages;
  const ScopedLock lock(mutex_);
  summary.skipped = static_cast<std::int64_t>(skipped_.size());
  for (const auto& [record, why] : skipped_) {
    if (summary.first_skipped.size() == RecordDamages::kMostKept) break;
    const RecordPlace& place = input_.records.places[record];
    summary.first_skipped.push_back(
        {place.key, place.offset,
         input_.paths.empty() ? "" : input_.paths[static_cast<std::size_t>(place.offset)], why});
  }
  return summary;
}

}  // namespace pitwall::data
