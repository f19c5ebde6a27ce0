// Lines of numbers: each line that is not empty is an item or an error with its place.
#include <string>
#include <string_view>

#include "db/check.h"
#include "runtime/data_files.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/targets.h"

namespace pitwall::fuzz {
namespace {

Session& session() {
  static const std::unique_ptr<Session> kSession = [] {
    SessionOptions options;
    options.backend = "null";
    auto opened = Session::open(options);
    PITWALL_CHECK(opened.has_value(), "%s", opened.error().message.c_str());
    return std::move(opened).value();
  }();
  return *kSession;
}

std::int64_t linesOf(std::string_view text) {
  std::int64_t lines = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    lines += line.find_first_not_of(" \r") != std::string_view::npos;
  }
  return lines;
}

void checkItems(const Result<std::unique_ptr<data::BatchIterator>>& batches, const std::string& path,
                std::span<const std::uint8_t> input) {
  const std::int64_t lines = linesOf({reinterpret_cast<const char*>(input.data()), input.size()});
  if (!batches.has_value()) {
    PITWALL_CHECK(batches.error().code == ErrorCode::notFound && lines == 0, "%s",
                  batches.error().message.c_str());
    return;
  }
  data::Batch batch;
  for (std::int64_t item = 0;; ++item) {
    const auto more = (*batches)->next(batch);
    if (more.has_value() && !*more) {
      PITWALL_CHECK(item == lines, "%lld items of %lld lines", static_cast<long long>(item),
                    static_cast<long long>(lines));
      return;
    }
    PITWALL_CHECK(more.has_value() || more.error().message.starts_with(path + ": line "), "%s",
                  more.error().message.c_str());
  }
}

}  // namespace

void readCsv(std::span<const std::uint8_t> input) {
  const std::string path = asFile(input);
  checkItems(data::openCsv(session(), {.data_csv = path, .data_shape = {3}, .preprocess_threads = 0}), path,
             input);
}

void readLibsvm(std::span<const std::uint8_t> input) {
  const std::string path = asFile(input);
  checkItems(data::openLibsvm(session(), {.data_libsvm = path, .data_shape = {3}, .preprocess_threads = 0}),
             path, input);
}

}  // namespace pitwall::fuzz
