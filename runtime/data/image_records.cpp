// Opening a record file of images: its index, its list, its part, and the iterator over it.
#include "runtime/image_records.h"

#include <fmt/format.h>

#include <filesystem>

#include "db/try.h"
#include "runtime/data/batch_storage.h"
#include "runtime/data/image_files.h"
#include "runtime/data/image_record_source.h"

namespace pitwall::data {
namespace {

class RecordIterator : public ImageRecordIterator {
 public:
  RecordIterator(std::unique_ptr<BatchIterator> batches, const ImageRecordSource& source)
      : batches_(std::move(batches)), source_(source) {}
  Result<bool> next(Batch& batch) override { return batches_->next(batch); }
  void reset() override { batches_->reset(); }
  ImageRecordSummary summary() const override { return source_.summary(); }

 private:
  const std::unique_ptr<BatchIterator> batches_;
  const ImageRecordSource& source_;  // owned by batches_
};

Failure refused(const char* name, std::int64_t value, const std::string& allowed) {
  return fail(ErrorCode::invalidInput, fmt::format("{} is {}: {}", name, value, allowed));
}

Result<RecordPlaces> placesOf(const ImageRecordOptions& options, Bytes file_bytes) {
  std::string index = options.path_imgidx;
  if (index.empty()) {
    index = std::filesystem::path(options.path_imgrec).replace_extension(".idx").string();
    std::error_code error;
    if (!std::filesystem::exists(index, error)) return findRecords(options.path_imgrec);
  }
  return readRecordIndex(index, file_bytes);
}

Result<ImageRecordSource::Input> inputOfRecords(const ImageRecordOptions& options) {
  ImageRecordSource::Input input;
  input.file = PITWALL_TRY(RecordFile::open(options.path_imgrec));
  input.records = PITWALL_TRY(placesOf(options, input.file->size()));
  if (options.path_imglist.empty()) return input;
  const auto listed = PITWALL_TRY(readImageList(options.path_imglist));
  for (const ListedImage& image : listed) input.labels[image.id] = image.labels;
  return input;
}

Result<ImageRecordSource::Input> inputOfFolder(const ImageRecordOptions& options) {
  ImageRecordSource::Input input;
  std::vector<ListedImage> images = PITWALL_TRY(
      options.path_imglist.empty() ? findImages(options.path_root) : readImageList(options.path_imglist));
  input.records = placesOfFiles(images);
  for (const ListedImage& image : images) input.paths.push_back(options.path_root + "/" + image.path);
  input.file = filesAsRecords(options.path_root, std::move(images));
  return input;
}

void keepPart(std::vector<RecordPlace>& places, std::int64_t parts, std::int64_t part) {
  const auto count = static_cast<std::int64_t>(places.size());
  const std::int64_t begin = count * part / parts, end = count * (part + 1) / parts;
  places = {places.begin() + begin, places.begin() + end};
}

}  // namespace

std::string ImageRecordSummary::problems(const std::string& path) const {
  std::string text = damages.describe(path);
  if (skipped == 0) return text;
  if (!text.empty()) text += '\n';
  text += fmt::format("{}: {} {} skipped", path, skipped, skipped == 1 ? "image" : "images");
  for (const SkippedImage& image : first_skipped)
    text += image.path.empty()
                ? fmt::format("; record {} at byte {}: {}", image.key, image.offset, image.what)
                : fmt::format("; {}: {}", image.path, image.what);
  if (skipped > static_cast<std::int64_t>(first_skipped.size())) text += "; ...";
  return text;
}

Status checkImageRecords(const ImageRecordOptions& options) {
  if (options.path_imgrec.empty() == options.path_root.empty())
    return fail(ErrorCode::invalidInput,
                "name a record file in path_imgrec, or a folder of images in path_root, and not both");
  if (!options.path_root.empty() && options.shuffle_chunk_size != 0)
    return refused("shuffle_chunk_size", options.shuffle_chunk_size, "must be 0 with path_root");
  const auto [channels, height, width] = options.data_shape;
  if ((channels != 1 && channels != 3) || height < 1 || width < 1 || height > 16384 || width > 16384)
    return fail(
        ErrorCode::invalidInput,
        fmt::format("data_shape is {}x{}x{}: 1 or 3 channels and 1 to 16384 rows and columns are allowed",
                    channels, height, width));
  if (options.batch_size < 1 || options.batch_size > 1'000'000)
    return refused("batch_size", options.batch_size, "1 to 1000000 are allowed");
  if (options.label_width < 1 || options.label_width > 1'000'000)
    return refused("label_width", options.label_width, "1 to 1000000 are allowed");
  if (options.num_parts < 1) return refused("num_parts", options.num_parts, "must be at least 1");
  if (options.part_index < 0 || options.part_index >= options.num_parts)
    return refused("part_index", options.part_index,
                   fmt::format("0 to {} are allowed", options.num_parts - 1));
  if (options.shuffle_chunk_size < 0 || options.shuffle_chunk_size > 1'000'000)
    return refused("shuffle_chunk_size", options.shuffle_chunk_size, "0 to 1000000 MB are allowed");
  if (options.dtype != DType::float32 && options.dtype != DType::uint8)
    return fail(ErrorCode::invalidInput,
                fmt::format("dtype is {}: float32 and uint8 are allowed", toString(options.dtype)));
  for (const auto& [name, value] :
       {std::pair{"std_r", options.std_r}, {"std_g", options.std_g}, {"std_b", options.std_b}})
    if (!(value > 0))
      return fail(ErrorCode::invalidInput, fmt::format("{} is {}: must be above 0", name, value));
  return checkAugmentation(options.augment);
}

Result<std::unique_ptr<ImageRecordIterator>> openImageRecords(Session& session,
                                                              const ImageRecordOptions& options) {
  PITWALL_TRY(checkImageRecords(options));
  Storage* const storage = PITWALL_TRY(batchStorage(session, options.device));
  ImageRecordSource::Input input =
      PITWALL_TRY(options.path_root.empty() ? inputOfRecords(options) : inputOfFolder(options));
  keepPart(input.records.places, options.num_parts, options.part_index);
  if (input.records.places.empty())
    return fail(
        ErrorCode::notFound,
        fmt::format(
            "{}: there are no {}{}{}", options.path_root.empty() ? options.path_imgrec : options.path_root,
            options.path_root.empty() ? "records" : "images",
            options.num_parts > 1 ? fmt::format(" in part {} of {}", options.part_index, options.num_parts)
                                  : "",
            input.records.damages.count > 0 ? "; " + input.records.damages.describe(options.path_imgrec)
                                            : ""));
  PrefetchOptions prefetch;
  prefetch.threads =
      static_cast<int>(session.tunable("prefetch_threads", options.preprocess_threads, {0, 1024}));
  prefetch.depth = static_cast<int>(session.tunable("prefetch_depth", options.prefetch_buffer, {1, 1024}));
  auto source = std::make_unique<ImageRecordSource>(session, *storage, options, std::move(input));
  const ImageRecordSource& observed = *source;
  auto batches = PITWALL_TRY(makeBatches(session, std::move(source), prefetch));
  return std::unique_ptr<ImageRecordIterator>(std::make_unique<RecordIterator>(std::move(batches), observed));
}

}  // namespace pitwall::data
