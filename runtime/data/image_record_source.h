// Batches of decoded and augmented images of a record file. Each batch is made by one thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
#include "runtime/data/augment.h"
#include "runtime/data/store_planes.h"
#include "runtime/image_records.h"

namespace pitwall::data {

class ImageRecordSource : public BatchSource {
 public:
  using Labels = std::unordered_map<std::uint64_t, std::vector<float>>;  // by a record's id
  struct Input {
    std::unique_ptr<RecordFile> file;
    RecordPlaces records;            // of this part
    Labels labels;                   // empty: those of the records
    std::vector<std::string> paths;  // of the images by offset, where each is a file
  };
  // `storage` is that of the batches. Precondition: checkImageRecords() succeeded, and there are records.
  ImageRecordSource(Session& session, Storage& storage, const ImageRecordOptions& options, Input input);
  ~ImageRecordSource() override;

  std::int64_t batchesPerEpoch() const override;
  Status make(std::int64_t epoch, std::int64_t index, Batch& batch) override;
  ImageRecordSummary summary() const;

 private:
  using Order = std::vector<std::uint32_t>;  // position in the epoch -> record; empty = unchanged
  struct Scratch;                            // memory that one thread works with
  struct Lease;                              // of a Scratch
  struct Place;  // of an image: its position, its record, and where the result goes

  std::shared_ptr<const Order> orderOf(std::int64_t epoch);
  Order shuffled(std::int64_t epoch) const;
  void readAhead(const std::vector<Place>& places) const;
  Status prepare(std::int64_t index, Batch& batch);
  // Errors of one image; `unusable` is set for one that concerns all of them.
  Status makeImage(std::int64_t epoch, const Place& place, Scratch& scratch, bool& unusable);
  Status readRecord(const Place& place, Scratch& scratch, std::span<const std::uint8_t>& image,
                    bool& unusable);
  void store(const Pixels& pixels, bool mirror, std::byte* to) const;
  void noteSkipped(std::uint32_t record, const std::string& why);

  const ImageRecordOptions options_;
  const Input input_;
  Storage& storage_;
  Profiler& profiler_;
  const SiteId read_site_, decode_site_, augment_site_, skipped_site_, key_site_, why_site_;
  const ImageSize result_size_;
  ChannelScale scale_;

  mutable Mutex mutex_;
  std::int64_t order_epoch_ PITWALL_GUARDED_BY(mutex_) = -1;
  std::shared_ptr<const Order> order_ PITWALL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Scratch>> scratch_ PITWALL_GUARDED_BY(mutex_);  // unused ones
  std::map<std::uint32_t, std::string> skipped_ PITWALL_GUARDED_BY(mutex_);   // by record
};

// Errors: invalidInput naming the parameter.
Status checkImageRecords(const ImageRecordOptions& options);

}  // namespace pitwall::data
