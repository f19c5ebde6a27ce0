// Lines of comma-separated numbers.
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

class CsvRows : public Rows {
 public:
  CsvRows(TextRows data, std::optional<TextRows> labels)
      : data_(std::move(data)), labels_(std::move(labels)) {}

  std::int64_t count() const override { return data_.count(); }

  Status read(std::int64_t row, std::span<float> data, std::span<float> labels,
              std::string& scratch) const override {
    PITWALL_TRY(numbers(data_, row, data, "data_shape", scratch));
    if (labels_) return numbers(*labels_, row, labels, "label_shape", scratch);
    std::fill(labels.begin(), labels.end(), 0.0F);
    return {};
  }

 private:
  static Status numbers(const TextRows& file, std::int64_t row, std::span<float> to, const char* shape,
                        std::string& scratch) {
    const std::string_view line = PITWALL_TRY(file.read(row, scratch));
    std::size_t count = 0;
    for (std::string_view rest = line;; ++count) {
      const std::size_t comma = rest.find(',');
      const std::string_view value = rest.substr(0, comma);
      if (count < to.size() && !parseWhole(value, to[count]))
        return file.wrong(
            row, fmt::format("value {} is '{}': must be a number", count + 1, escaped(value.substr(0, 40))));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (++count == to.size()) return {};
    return file.wrong(row, fmt::format("{} {} instead of {}, as {} says", count,
                                       count == 1 ? "value" : "values", to.size(), shape));
  }

  const TextRows data_;
  const std::optional<TextRows> labels_;
};

}  // namespace

Result<std::unique_ptr<BatchIterator>> openCsv(Session& session, const CsvOptions& options) {
  PITWALL_TRY(checkItemShape("data_shape", options.data_shape));
  PITWALL_TRY(checkItemShape("label_shape", options.label_shape));
  TextRows data = PITWALL_TRY(TextRows::open(options.data_csv));
  std::optional<TextRows> labels;
  if (!options.label_csv.empty()) {
    TextRows file = PITWALL_TRY(TextRows::open(options.label_csv));
    if (file.count() != data.count())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{} has {} lines, but {} has {}: each item needs one of both", options.data_csv,
                              data.count(), options.label_csv, file.count()));
    labels.emplace(std::move(file));
  }
  return batchRows(session, std::make_unique<CsvRows>(std::move(data), std::move(labels)),
                   {.name = options.data_csv,
                    .item_shape = options.data_shape,
                    .label_width = options.label_shape.elements(),
                    .batch_size = options.batch_size,
                    .rest = options.round_batch ? RowBatches::Rest::fill : RowBatches::Rest::keep,
                    .threads = options.preprocess_threads,
                    .depth = options.prefetch_buffer,
                    .device = options.device});
}

}  // namespace pitwall::data
