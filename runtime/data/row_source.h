// Batches of rows of numbers, whatever they are read from.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/mutex.h"
#include "runtime/data.h"

namespace pitwall::data {

// Any thread may read any row.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual std::int64_t count() const = 0;
  // All of `data` and `labels`. `scratch` is memory that may be used. Errors: io; invalidInput naming the place.
  virtual Status read(std::int64_t row, std::span<float> data, std::span<float> labels,
                      std::string& scratch) const = 0;
};

struct RowBatches {
  // The rest of an epoch: filled with the first rows, a smaller batch, or left out.
  enum class Rest : std::uint8_t { fill, keep, discard };
  std::string name = {};  // of the file, for messages
  Shape item_shape = {};
  std::int64_t label_width = 1;
  std::int64_t batch_size = 1;
  Rest rest = Rest::fill;
  bool shuffle = false;
  std::uint64_t seed = 0;
  int num_parts = 1, part_index = 0;
  int threads = 1, depth = 4;
  Device device = {};
};

// Errors: invalidInput naming the parameter; notFound where there are no rows.
Result<std::unique_ptr<BatchIterator>> batchRows(Session& session, std::unique_ptr<Rows> rows,
                                                 RowBatches options);

// Errors: invalidInput for a shape without elements, naming the parameter `name`.
Status checkItemShape(const char* name, const Shape& shape);

}  // namespace pitwall::data
