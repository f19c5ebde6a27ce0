// Lines "label index:value index:value ..." with indices from 0.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "db/escaped.h"
#include "db/try.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/row_source.h"
#include "runtime/data/text_rows.h"
#include "runtime/data_files.h"

namespace pitwall::data {
namespace {

// The next word of a line; empty at its end.
std::string_view takeWord(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(" \t"), rest.size());
  rest.remove_prefix(begin);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  return word;
}

class LibsvmRows : public Rows {
 public:
  LibsvmRows(TextRows data, std::optional<TextRows> labels)
      : data_(std::move(data)), labels_(std::move(labels)) {}

  std::int64_t count() const override { return data_.count(); }

  Status read(std::int64_t row, std::span<float> data, std::span<float> labels,
              std::string& scratch) const override {
    float label = 0;
    PITWALL_TRY(pairs(data_, row, data, "data_shape", label, scratch));
    if (labels_) return pairs(*labels_, row, labels, "label_shape", label, scratch);
    labels[0] = label;
    return {};
  }

 private:
  // The pairs of a line into `to`, and the number before them.
  static Status pairs(const TextRows& file, std::int64_t row, std::span<float> to, const char* shape,
                      float& first, std::string& scratch) {
    std::string_view rest = PITWALL_TRY(file.read(row, scratch));
    rest = rest.substr(0, rest.find('#'));
    std::fill(to.begin(), to.end(), 0.0F);
    const std::string_view label = takeWord(rest);
    if (!parseWhole(label, first))
      return file.wrong(row,
                        fmt::format("it begins with '{}': must be a number", escaped(label.substr(0, 40))));
    for (;;) {
      const std::string_view word = takeWord(rest);
      if (word.empty()) return {};
      const std::size_t colon = word.find(':');
      std::uint64_t index = 0;
      float value = 0;
      if (colon == std::string_view::npos || !parseWhole(word.substr(0, colon), index) ||
          !parseWhole(word.substr(colon + 1), value))
        return file.wrong(
            row, fmt::format("'{}' must be an index, a colon and a number", escaped(word.substr(0, 40))));
      if (index >= to.size())
        return file.wrong(row, fmt::format("index {} is outside: {} says {} values, counted from 0", index,
                                           shape, to.size()));
      to[static_cast<std::size_t>(index)] = value;
    }
  }

  const TextRows data_;
  const std::optional<TextRows> labels_;
};

}  // namespace

Result<std::unique_ptr<BatchIterator>> openLibsvm(Session& session, const LibsvmOptions& options) {
  PITWALL_TRY(checkItemShape("data_shape", options.data_shape));
  PITWALL_TRY(checkItemShape("label_shape", options.label_shape));
  TextRows data = PITWALL_TRY(TextRows::open(options.data_libsvm));
  std::optional<TextRows> labels;
  if (!options.label_libsvm.empty()) {
    TextRows file = PITWALL_TRY(TextRows::open(options.label_libsvm));
    if (file.count() != data.count())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{} has {} lines, but {} has {}: each item needs one of both",
                              options.data_libsvm, data.count(), options.label_libsvm, file.count()));
    labels.emplace(std::move(file));
  } else if (options.label_shape.elements() != 1) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("label_shape is {}: a line of {} begins with one label; give label_libsvm for several",
                    options.label_shape.toString(), options.data_libsvm));
  }
  return batchRows(session, std::make_unique<LibsvmRows>(std::move(data), std::move(labels)),
                   {.name = options.data_libsvm,
                    .item_shape = options.data_shape,
                    .label_width = options.label_shape.elements(),
                    .batch_size = options.batch_size,
                    .rest = options.round_batch ? RowBatches::Rest::fill : RowBatches::Rest::keep,
                    .num_parts = options.num_parts,
                    .part_index = options.part_index,
                    .threads = options.preprocess_threads,
                    .depth = options.prefetch_buffer,
                    .device = options.device});
}

}  // namespace pitwall::data
