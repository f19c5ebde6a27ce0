// Items of arrays in memory: those of MXNet's files, and MNIST's images.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "db/try.h"
#include "runtime/data/row_source.h"
#include "runtime/data_files.h"
#include "runtime/parameter_file.h"

namespace pitwall::data {
namespace {

template <class Element>
void copyElements(const std::byte* from, std::span<float> to, float scale) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    Element element;
    std::memcpy(&element, from + i * sizeof element, sizeof element);
    to[i] = static_cast<float>(element) * scale;
  }
}

// Item `row` of the array.
void copyItem(const ParameterArray& array, std::int64_t row, float scale, std::span<float> to) {
  const std::byte* const from = array.values.data() + static_cast<std::size_t>(row) * to.size() *
                                                          static_cast<std::size_t>(sizeOf(array.dtype));
  switch (array.dtype) {
    case DType::int8: return copyElements<std::int8_t>(from, to, scale);
    case DType::uint8: return copyElements<std::uint8_t>(from, to, scale);
    case DType::int32: return copyElements<std::int32_t>(from, to, scale);
    default: return copyElements<float>(from, to, scale);
  }
}

class ArrayRows : public Rows {
 public:
  ArrayRows(ParameterArray data, ParameterArray labels, float scale)
      : data_(std::move(data)), labels_(std::move(labels)), scale_(scale) {}

  std::int64_t count() const override { return data_.shape[0]; }

  Status read(std::int64_t row, std::span<float> data, std::span<float> labels, std::string&) const override {
    copyItem(data_, row, scale_, data);
    if (labels_.values.empty())
      std::fill(labels.begin(), labels.end(), 0.0F);
    else
      copyItem(labels_, row, 1, labels);
    return {};
  }

 private:
  const ParameterArray data_, labels_;  // no values: labels are 0
  const float scale_;                   // of the data
};

Shape itemShapeOf(const Shape& shape) {
  Shape item;
  for (int i = 1; i < shape.rank(); ++i) item.append(shape[i]);
  if (item.rank() == 0) item.append(1);
  return item;
}

// Takes the array of this name out of those of the file.
Result<ParameterArray> takeArray(ParameterArrays& arrays, const std::string& path, const std::string& name) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) {
    std::string names;
    for (const auto& [other, array] : arrays)
      if (names.size() < 200) names += (names.empty() ? "" : ", ") + other;
    return fail(ErrorCode::notFound, fmt::format("{}: there is no array '{}'; it has {}", path, name,
                                                 names.empty() ? "none" : names));
  }
  ParameterArray array = std::move(found->second);
  arrays.erase(found);
  const bool known = array.dtype == DType::float32 || array.dtype == DType::int8 ||
                     array.dtype == DType::uint8 || array.dtype == DType::int32;
  if (!known)
    return fail(ErrorCode::unsupported,
                fmt::format("{}: array '{}' is of {}: float32, int8, uint8 and int32 are possible", path,
                            name, toString(array.dtype)));
  if (array.shape.rank() == 0 || array.shape.elements() == 0)
    return fail(ErrorCode::invalidInput, fmt::format("{}: array '{}' has no items: its shape is {}", path,
                                                     name, array.shape.toString()));
  return array;
}

}  // namespace

Result<std::unique_ptr<BatchIterator>> openArrays(Session& session, const ArrayOptions& options) {
  ParameterArrays arrays = PITWALL_TRY(loadParameters(options.path));
  ParameterArray data = PITWALL_TRY(takeArray(arrays, options.path, options.data_name));
  ParameterArray labels;
  RowBatches batches{.name = options.path,
                     .item_shape = itemShapeOf(data.shape),
                     .batch_size = options.batch_size,
                     .rest = options.last_batch_handle == LastBatch::pad ? RowBatches::Rest::fill
                                                                         : RowBatches::Rest::discard,
                     .shuffle = options.shuffle,
                     .seed = options.seed,
                     .threads = options.preprocess_threads,
                     .depth = options.prefetch_buffer,
                     .device = options.device};
  if (!options.label_name.empty()) {
    labels = PITWALL_TRY(takeArray(arrays, options.path, options.label_name));
    if (labels.shape[0] != data.shape[0])
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: '{}' has {} items, but '{}' has {}: each needs one of both", options.path,
                              options.data_name, data.shape[0], options.label_name, labels.shape[0]));
    batches.label_width = itemShapeOf(labels.shape).elements();
  }
  return batchRows(session, std::make_unique<ArrayRows>(std::move(data), std::move(labels), 1.0F),
                   std::move(batches));
}

Result<std::unique_ptr<BatchIterator>> openMnist(Session& session, const MnistOptions& options) {
  ImageDataset dataset = PITWALL_TRY(readIdx(options.image, options.label));
  const auto arrayOf = [](Shape shape, const std::vector<std::uint8_t>& bytes) {
    ParameterArray array{std::move(shape), DType::uint8, std::vector<std::byte>(bytes.size())};
    std::memcpy(array.values.data(), bytes.data(), bytes.size());
    return array;
  };
  const Shape image =
      options.flat ? Shape{dataset.height * dataset.width} : Shape{1, dataset.height, dataset.width};
  Shape images{dataset.count};
  for (int i = 0; i < image.rank(); ++i) images.append(image[i]);
  auto rows = std::make_unique<ArrayRows>(arrayOf(images, dataset.pixels),
                                          arrayOf({dataset.count}, dataset.labels), 1.0F / 255);
  return batchRows(session, std::move(rows),
                   {.name = options.image,
                    .item_shape = image,
                    .batch_size = options.batch_size,
                    .rest = RowBatches::Rest::discard,
                    .shuffle = options.shuffle,
                    .seed = options.seed,
                    .num_parts = options.num_parts,
                    .part_index = options.part_index,
                    .threads = options.preprocess_threads,
                    .depth = options.prefetch_buffer,
                    .device = options.device});
}

}  // namespace pitwall::data
