// Data sets and batches. A BatchIterator gives batches in host memory; the training loop copies them into
// NDArrays.
//
// Every next() is recorded as dataWait on the calling thread and the production of a batch as dataWork on its
// thread, so a trace shows which thread waits for which.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/result.h"
#include "runtime/memory.h"
#include "runtime/ndarray.h"
#include "runtime/session.h"
#include "runtime/tensor.h"

namespace pitwall::data {

// Images and labels in memory as the idx format has them.
struct ImageDataset {
  std::int64_t count = 0, channels = 1, height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // count x channels x height x width
  std::vector<std::uint8_t> labels;  // count
  std::string description;           // "Fashion-MNIST train, /usr/share/..."
};

// One gzipped or plain idx file pair. Errors: notFound, io, invalidInput naming file, offset and cause.
Result<ImageDataset> readIdx(const std::string& images_path, const std::string& labels_path);

enum class Split : std::uint8_t { train, test };
inline constexpr char kFashionMnistFolder[] =
    "/usr/share/datasets/fashion-mnist";  // Debian's dataset-fashion-mnist
// Errors: notFound, saying which package to install, else as readIdx.
Result<ImageDataset> fashionMnist(Split split, const std::string& folder = kFashionMnistFolder);

// Digits from a seeded generator (10 classes, 28 x 28, noise and shifts): learnable, deterministic.
ImageDataset syntheticDigits(std::int64_t count, std::uint64_t seed);

struct Batch {
  std::vector<float> images;  // items x channels x height x width, 0..1; empty where `block` has them
  std::vector<float> labels;  // items, or items x labels of each
  std::int64_t items = 0;
  Shape image_shape;  // of the whole batch
  // Images that were made in memory of the session, row-major; none: empty.
  Block block;
  DType dtype = DType::float32;  // of the block
  Device device = {};            // whose memory the block is
  std::int64_t padding = 0;      // items at the end that only fill the batch
};

// The images of a batch, in a new array or in one of their shape and type, such as an executor's input. A block becomes
// the array's memory without a copy, and the batch has none until next() gives it another; the array's old memory is kept
// for it by the session's storage. Errors: invalidInput for an array of another shape, type or device.
Result<NDArray> takeImages(Session& session, Batch& batch);
Status takeImages(Batch& batch, NDArray& into);

class BatchIterator {
 public:
  virtual ~BatchIterator() = default;
  // False at the end of the epoch; `batch` is then untouched. Its memory is reused: keep passing the same
  // one. The last batch of an epoch may be smaller unless drop_last. Errors: those of the source.
  virtual Result<bool> next(Batch& batch) = 0;
  // Starts the next epoch (with another order when shuffling).
  virtual void reset() = 0;
};

struct BatchOptions {
  std::int64_t batch_size = 16;
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 1;
  int prefetch_threads = 0;  // 0: batches are produced on the caller's thread
  int prefetch_depth = 2;    // batches ready or in production ahead of the caller, when prefetch_threads > 0
};

// The dataset must outlive the iterator, and the session too. Batches and their order do not depend on the
// prefetch options. Errors: invalidInput naming the option or the defect of the dataset.
Result<std::unique_ptr<BatchIterator>> makeBatches(Session& session, const ImageDataset& dataset,
                                                   BatchOptions options);

// Produces batches of data that is not an ImageDataset.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::int64_t batchesPerEpoch() const = 0;
  // Fills `batch`, whose vectors may hold an old one. The same epoch and index give the same batch. When
  // prefetching: from several threads at once, in any order.
  virtual Status make(std::int64_t epoch, std::int64_t index, Batch& batch) = 0;
};

struct PrefetchOptions {
  int threads = 0;  // 0: on the caller's thread
  int depth = 2;
};

// An error of the source is returned by the next() for that batch; the following next() continues with the
// next batch. Errors: invalidInput for impossible options.
Result<std::unique_ptr<BatchIterator>> makeBatches(Session& session, std::unique_ptr<BatchSource> source,
                                                   PrefetchOptions options);

// Takes the batches of any iterator up to `depth` ahead, on a separate thread: MXNet's PrefetchingIter. Errors of the
// iterator are returned by the next() for that batch; the destructor and reset() wait for the batch in production. Errors:
// invalidInput for an impossible depth.
Result<std::unique_ptr<BatchIterator>> prefetchBatches(Session& session,
                                                       std::unique_ptr<BatchIterator> iterator,
                                                       int depth = 2);

}  // namespace pitwall::data
