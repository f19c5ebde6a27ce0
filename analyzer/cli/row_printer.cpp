#include "analyzer/cli/row_printer.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <vector>

#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/utf8.h"
#include "db/json_string.h"

namespace pitwall::cli {
namespace {

constexpr std::size_t kMeasuredRows = 500;  // of a text table; later rows use the same widths
constexpr std::size_t kLeastColumn = 8;
constexpr std::size_t kLarge = std::size_t{1} << 16;

std::string asText(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

class Buffered : public RowPrinter {
 public:
  bool finish() override {
    write();
    return std::ferror(stdout) == 0;
  }

 protected:
  void writeIfLarge() {
    if (out_.size() >= kLarge) write();
  }
  void write() {
    std::fwrite(out_.data(), 1, out_.size(), stdout);
    out_.clear();
  }
  fmt::memory_buffer out_;
  void append(std::string_view text) { out_.append(text.data(), text.data() + text.size()); }
};

// csv by RFC 4180; tsv with tabs, line ends and backslashes of texts escaped.
class Separated final : public Buffered {
 public:
  explicit Separated(bool tabs) : tabs_(tabs) {}
  void columns(std::span<const std::string> names) override {
    if (any_) append("\n");
    any_ = true;
    for (std::size_t i = 0; i < names.size(); ++i) field(i, names[i]);
    append("\n");
  }
  bool row(std::span<const SqlValue> values) override {
    for (std::size_t i = 0; i < values.size(); ++i) field(i, asText(values[i]));
    append("\n");
    writeIfLarge();
    return std::ferror(stdout) == 0;
  }

 private:
  void field(std::size_t index, std::string_view text) {
    if (index > 0) append(tabs_ ? "\t" : ",");
    if (tabs_) return escaped(text);
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return append(text);
    append("\"");
    for (const char c : text) append(c == '"' ? std::string_view("\"\"") : std::string_view(&c, 1));
    append("\"");
  }
  void escaped(std::string_view text) {
    for (const char c : text) {
      switch (c) {
        case '\t': append("\\t"); break;
        case '\n': append("\\n"); break;
        case '\r': append("\\r"); break;
        case '\\': append("\\\\"); break;
        default: out_.push_back(c);
      }
    }
  }
  bool tabs_;
  bool any_ = false;
};

// An array of objects for each statement.
class JsonRows final : public Buffered {
 public:
  void columns(std::span<const std::string> names) override {
    close();
    names_.clear();
    for (const std::string& name : names) names_.push_back(jsonString(name));
    append("[");
    open_ = true;
    first_ = true;
  }
  bool row(std::span<const SqlValue> values) override {
    append(first_ ? "\n{" : ",\n{");
    first_ = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) append(", ");
      append(names_[i]);
      append(": ");
      value(values[i]);
    }
    append("}");
    writeIfLarge();
    return std::ferror(stdout) == 0;
  }
  bool finish() override {
    close();
    return Buffered::finish();
  }

 private:
  void value(const SqlValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return append(jsonString(*text));
    const auto* real = std::get_if<double>(&value);
    const bool none =
        std::holds_alternative<std::monostate>(value) || (real != nullptr && !std::isfinite(*real));
    append(none ? "null" : asText(value));
  }
  void close() {
    if (open_) append(first_ ? "]\n" : "\n]\n");
    open_ = false;
  }
  std::vector<std::string> names_;
  bool open_ = false;
  bool first_ = true;
};

class TextTable final : public Buffered {
 public:
  explicit TextTable(std::size_t width) : width_(width) {}
  void columns(std::span<const std::string> names) override {
    flushTable();
    if (any_) append("\n");
    any_ = true;
    names_.assign(names.begin(), names.end());
    numbers_.assign(names.size(), true);
    rows_.clear();
    widths_.clear();
  }
  bool row(std::span<const SqlValue> values) override {
    auto& texts = rows_.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      texts.push_back(emit::printable(asText(values[i])));
      if (std::holds_alternative<std::string>(values[i])) numbers_[i] = false;
    }
    if (rows_.size() >= kMeasuredRows || !widths_.empty()) flushTable();
    writeIfLarge();
    return std::ferror(stdout) == 0;
  }
  bool finish() override {
    flushTable();
    return Buffered::finish();
  }

 private:
  void measure() {
    for (const std::string& name : names_) widths_.push_back(emit::columnsOf(name));
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], emit::columnsOf(row[i]));
    }
    std::size_t total = 2 * (widths_.size() - 1);
    for (const std::size_t width : widths_) total += width;
    for (; width_ > 0 && total > width_; --total) {
      std::size_t widest = widths_.size();
      for (std::size_t i = 0; i < widths_.size(); ++i) {
        if (numbers_[i] || widths_[i] <= kLeastColumn) continue;
        if (widest == widths_.size() || widths_[i] > widths_[widest]) widest = i;
      }
      if (widest == widths_.size()) return;
      --widths_[widest];
    }
  }

  std::string fitted(std::string text, std::size_t column) const {
    if (width_ == 0 || numbers_[column] || emit::columnsOf(text) <= widths_[column]) return text;
    while (!text.empty() && emit::columnsOf(text) + 1 > widths_[column]) {
      while ((text.back() & 0xC0) == 0x80) text.pop_back();
      text.pop_back();
    }
    return text + "~";
  }

  void line(const std::vector<std::string>& texts) {
    std::string line;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = fitted(texts[i], i);
      const std::string pad(widths_[i] - std::min(widths_[i], emit::columnsOf(text)), ' ');
      line += (i == 0 ? "" : "  ") + (numbers_[i] ? pad + text : text + pad);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    append(line);
    append("\n");
  }

  void flushTable() {
    if (names_.empty()) return;
    if (widths_.empty()) {
      measure();
      line(names_);
      std::vector<std::string> rule;
      for (const std::size_t width : widths_) rule.emplace_back(width, '-');
      line(rule);
    }
    for (const auto& row : rows_) line(row);
    rows_.clear();
  }

  std::size_t width_;
  std::vector<std::string> names_;
  std::vector<bool> numbers_;  // columns without a text so far: aligned to the right
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<RowPrinter> makeRowPrinter(const std::string& format, std::size_t width) {
  if (format == "csv") return std::make_unique<Separated>(false);
  if (format == "tsv") return std::make_unique<Separated>(true);
  if (format == "json") return std::make_unique<JsonRows>();
  return std::make_unique<TextTable>(width);
}

}  // namespace pitwall::cli
