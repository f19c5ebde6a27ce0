#include "db/import/input/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "db/import/input/scan.h"
#include "db/try.h"

namespace pitwall::import {

namespace {
constexpr std::size_t kStartBytes = std::size_t{256} << 10;  // stays in the processor's second cache
constexpr Bytes kProgressBytes = Bytes{1} << 20;
}  // namespace

Window::Window(ByteSource& source, const ImportOptions& options, std::string path)
    : source_(source), options_(options), path_(std::move(path)), buffer_(kStartBytes) {}

std::int64_t Window::line() const {
  line_ += countLines(buffer_.data() + counted_, buffer_.data() + begin_);
  counted_ = begin_;
  return line_;
}

Status Window::more(std::size_t limit) {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
    return fail(ErrorCode::cancelled, fmt::format("{}: import interrupted", path_));
  }
  if (begin_ > 0) {
    line();
    counted_ = 0;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= limit) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: one record at {} is longer than {} bytes", path_, place(), limit));
    }
    buffer_.resize(std::min(limit, buffer_.size() * 2));
  }
  auto got = PITWALL_TRY(source_.read({buffer_.data() + end_, buffer_.size() - end_}));
  if (got == 0) source_ended_ = true;
  end_ += got;
  const Bytes consumed = source_.consumedBytes();
  if (options_.progress && (consumed - reported_ >= kProgressBytes || source_ended_)) {
    reported_ = consumed;
    options_.progress({path_, consumed, source_.fileBytes()});
  }
  return {};
}

std::string Window::place(std::size_t ahead) const {
  const std::string_view seen = view().substr(0, ahead);
  return fmt::format("byte {}, line {}", offset_ + static_cast<std::int64_t>(seen.size()),
                     line() + countLines(seen.data(), seen.data() + seen.size()));
}

}  // namespace pitwall::import
