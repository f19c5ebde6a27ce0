// Batches of numbers from files: comma-separated values, libsvm, arrays of MXNet, and MNIST. MXNet's CSVIter,
// LibSVMIter, NDArrayIter and MNISTIter, with the names of their parameters. For images: runtime/image_records.h.
//
//   auto batches = PITWALL_TRY(openCsv(session, {.data_csv = "x.csv", .data_shape = {784}, .label_csv = "y.csv"}));
//   Batch batch;
//   while (PITWALL_TRY(batches->next(batch))) PITWALL_TRY(takeImages(batch, data));
//
// A batch is float32, items x data_shape, in memory of the session; its labels are items x the elements of label_shape.
// Batches and their order depend on the seed and the epoch alone. Threads and depth are declared as tunables
// prefetch_threads and prefetch_depth. The session outlives the iterator.
//
// Errors of opening: invalidInput naming the parameter, or file, place and cause; notFound; io. Errors of next():
// invalidInput naming file, line and value; the batch after it follows. A file that is written while it is read is an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "db/result.h"
#include "runtime/data.h"
#include "runtime/session.h"

namespace pitwall::data {

// A line has the values of one item. The lines stay in the file and are read when their batch is made; only where each
// begins is kept, 8 bytes a line. Empty lines are passed over.
struct CsvOptions {
  std::string data_csv = {};
  Shape data_shape = {};       // of one item: {784}, or {3, 32, 32}
  std::string label_csv = {};  // empty: all labels are 0
  Shape label_shape = {1};     // of one item
  std::int64_t batch_size = 1;
  bool round_batch = true;     // the last batch is filled with the first items; else it is smaller
  int preprocess_threads = 1;  // 0: on the caller's thread
  int prefetch_buffer = 4;     // batches ahead
  Device device = {};          // as ImageRecordOptions::device
};
Result<std::unique_ptr<BatchIterator>> openCsv(Session& session, const CsvOptions& options);

// A line is "label index:value index:value ...", indices counted from 0 as in MXNet; what is not named is 0, and the batch
// is dense. "#" begins a comment. Kept as the lines of CsvOptions.
struct LibsvmOptions {
  std::string data_libsvm = {};
  Shape data_shape = {};  // of one item: {features}
  std::string label_libsvm =
      {};                   // empty: the label that begins each line; else the pairs of this file's lines
  Shape label_shape = {1};  // of one item
  int num_parts = 1, part_index = 0;  // reads one of as many equal parts of the lines
  std::int64_t batch_size = 1;
  bool round_batch = true;
  int preprocess_threads = 1;
  int prefetch_buffer = 4;
  Device device = {};  // as ImageRecordOptions::device
};
Result<std::unique_ptr<BatchIterator>> openLibsvm(Session& session, const LibsvmOptions& options);

// Of the items that do not fill a batch at the end of an epoch.
enum class LastBatch : std::uint8_t { pad, discard };

// Arrays of a file of nd.save() or .params, whose first axis counts the items. They are read into memory. float32, int8,
// uint8 and int32.
struct ArrayOptions {
  std::string path = {};
  std::string data_name = "data";            // arrays that were saved without names are "0", "1", ...
  std::string label_name = "softmax_label";  // empty: all labels are 0
  std::int64_t batch_size = 1;
  bool shuffle = false;  // a new order each epoch
  std::uint64_t seed = 0;
  LastBatch last_batch_handle = LastBatch::pad;  // pad: filled with the first items
  int preprocess_threads = 1;
  int prefetch_buffer = 4;
  Device device = {};  // as ImageRecordOptions::device
};
Result<std::unique_ptr<BatchIterator>> openArrays(Session& session, const ArrayOptions& options);

// Files of the idx format, gzipped or plain; pixels are divided by 255. Items that do not fill a batch are left out.
struct MnistOptions {
  std::string image = {}, label = {};
  std::int64_t batch_size = 128;
  bool shuffle = true;
  bool flat = false;  // items x pixels instead of items x 1 x rows x columns
  std::uint64_t seed = 0;
  int num_parts = 1, part_index = 0;
  int preprocess_threads = 1;
  int prefetch_buffer = 4;
  Device device = {};  // as ImageRecordOptions::device
};
Result<std::unique_ptr<BatchIterator>> openMnist(Session& session, const MnistOptions& options);

}  // namespace pitwall::data
