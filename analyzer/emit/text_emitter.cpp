#include "analyzer/emit/text_emitter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/emit/bar_text.h"
#include "analyzer/emit/utf8.h"

namespace pitwall::emit {
namespace {

constexpr std::size_t kCardIndent = 3;
constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kLeastColumn = 8;

const char* escapeOf(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::heading: return "\033[1m";
    case Style::high: return "\033[1;31m";
    case Style::medium: return "\033[1;33m";
    case Style::low: return "\033[1;36m";
    case Style::info: return "\033[1m";
  }
  return "";
}

std::string cut(std::string_view text, std::size_t width) { return shortened(text, width, "~"); }

// "93.3 %", "1.20 ms" and "< 0.1" stay together.
bool belongTogether(std::string_view left, std::string_view right) {
  if (left == "<") return true;
  constexpr std::string_view kUnits[] = {"%",   "ns",  "us",  "ms",   "s",       "B",       "KiB",    "MiB",
                                         "GiB", "TiB", "CPU", "CPUs", "GFLOP/s", "TFLOP/s", "items/s"};
  while (!right.empty() && std::string_view(".,;:)").find(right.back()) != std::string_view::npos)
    right.remove_suffix(1);
  const bool number = !left.empty() && left.back() >= '0' && left.back() <= '9';
  return number && std::find(std::begin(kUnits), std::end(kUnits), right) != std::end(kUnits);
}

// Positions in `shown` that a line has no room for even when all that may be cut is: extra columns first,
// from the right, then the others but the first.
std::vector<std::size_t> withoutRoom(const Table& table, const std::vector<std::size_t>& shown,
                                     const std::vector<std::size_t>& widths, std::size_t room) {
  std::vector<std::size_t> out;
  const auto least = [&](std::size_t i) {
    return table.columns[shown[i]].may_be_cut ? std::min(widths[i], kLeastColumn) : widths[i];
  };
  std::size_t need = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) need += least(i) + (i > 0 ? table.gap : 0);
  for (const bool extra : {true, false}) {
    for (std::size_t i = shown.size(); i-- > 1 && need > room;) {
      if (table.columns[shown[i]].is_extra != extra) continue;
      need -= least(i) + table.gap;
      out.push_back(i);
    }
  }
  return out;
}

// Narrows the widest columns until a line fits.
void narrow(const Table& table, const std::vector<std::size_t>& shown, std::size_t total, std::size_t width,
            std::vector<std::size_t>& widths) {
  for (; total > width; --total) {
    std::size_t widest = shown.size();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (!table.columns[shown[i]].may_be_cut || widths[i] <= kLeastColumn) continue;
      if (widest == shown.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == shown.size()) return;
    --widths[widest];
  }
}

// Removes the columns that a line has no room for; their titles.
std::string leaveOut(const Table& table, std::size_t room, std::vector<std::size_t>& shown,
                     std::vector<std::size_t>& widths, std::vector<std::vector<std::string>>& lines) {
  auto columns = withoutRoom(table, shown, widths, room);
  std::sort(columns.rbegin(), columns.rend());
  std::string titles;
  for (const std::size_t i : columns) {
    const std::string& title = table.columns[shown[i]].title;
    if (title != " ") titles = titles.empty() ? title : title + ", " + titles;
    const auto at = static_cast<std::ptrdiff_t>(i);
    shown.erase(shown.begin() + at);
    widths.erase(widths.begin() + at);
    for (auto& texts : lines) texts.erase(texts.begin() + at);
  }
  return titles;
}

}  // namespace

void TextEmitter::line(std::string_view text) {
  out_ += text;
  out_ += '\n';
}

void TextEmitter::wrapped(std::string_view text, std::size_t first_indent, std::size_t indent) {
  const std::string clean = printable(text);
  const auto width = static_cast<std::size_t>(options_.width);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < clean.size();) {
    const auto end = std::min(clean.find(' ', at), clean.size());
    std::string word = clean.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const auto last = words.empty() ? std::string_view() : std::string_view(words.back());
    if (belongTogether(last.substr(last.rfind(' ') + 1), word)) {
      words.back() += ' ' + word;
    } else {
      words.push_back(std::move(word));
    }
  }
  std::size_t column = first_indent;
  bool empty_line = true;
  for (const std::string& word : words) {
    if (!empty_line && column + 1 + columnsOf(word) > width) {
      out_ += '\n' + std::string(indent, ' ');
      column = indent;
      empty_line = true;
    }
    if (!empty_line) out_ += ' ', ++column;
    out_ += word;
    column += columnsOf(word);
    empty_line = false;
  }
  out_ += '\n';
}

// A title of more than a line goes on below.
void TextEmitter::titleLine(std::string_view title, Style style) {
  out_ += '\n';
  const bool colored = options_.color && style != Style::plain;
  if (colored) out_ += escapeOf(style);
  wrapped(title, 0, kCardIndent);
  if (colored) out_.insert(out_.size() - 1, "\033[0m");
  indent_ = kCardIndent;
}

void TextEmitter::beginObject(std::string_view, std::string_view title, Style style) {
  if (!title.empty()) titleLine(title, style);
}

void TextEmitter::endObject() { indent_ = kCardIndent; }

void TextEmitter::beginList(std::string_view, std::string_view title) {
  if (!title.empty()) heading(title);
}

void TextEmitter::endList() {}

void TextEmitter::heading(std::string_view title) { titleLine(title, Style::heading); }

void TextEmitter::field(std::string_view, std::string_view label, const Cell& cell) {
  if (label.empty() || cell.text.empty()) return;
  std::string head = std::string(indent_, ' ') + std::string(label);
  const std::size_t body = indent_ + kLabelWidth;
  head.resize(std::max(body, head.size() + 1), ' ');
  out_ += head;
  // Below the text's beginning, where a long label leaves room for it.
  const auto width = static_cast<std::size_t>(options_.width);
  wrapped(cell.text, head.size(), head.size() <= width / 2 ? head.size() : body);
}

void TextEmitter::code(std::string_view label, std::string_view text) {
  line(std::string(indent_, ' ') + std::string(label));
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    line(std::string(indent_, ' ') + printable(text.substr(at, end - at)));
    at = end + 1;
  }
}

void TextEmitter::paragraph(std::string_view text) {
  out_.append(indent_, ' ');
  wrapped(text, indent_, indent_);
}

std::string TextEmitter::tableLine(const Table& table, const std::vector<std::size_t>& shown,
                                   const std::vector<std::size_t>& widths,
                                   const std::vector<std::string>& texts) const {
  std::string result;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string text = cut(texts[i], widths[i]);
    const std::string pad(widths[i] - columnsOf(text), ' ');
    if (i > 0) result.append(table.gap, ' ');
    result += table.columns[shown[i]].align == Align::right ? pad + text : text + pad;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

void TextEmitter::table(std::string_view, std::string_view label, const Table& table) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].title.empty()) shown.push_back(c);
  }
  const std::size_t rows = std::min(table.rows.size(), table.text_rows);
  if (shown.empty() || rows == 0) return;

  std::vector<std::vector<std::string>> lines(1);
  for (const auto c : shown) lines[0].push_back(table.columns[c].title);
  for (std::size_t r = 0; r < rows; ++r) {
    auto& texts = lines.emplace_back();
    for (const auto c : shown) texts.push_back(printable(textOf(table.rows[r][c])));
  }
  if (table.rows.size() > rows && !table.rest.empty()) lines.push_back(table.rest);
  if (!table.footer.empty()) lines.push_back(table.footer);

  const auto widest = [&lines](std::size_t column) {
    std::size_t width = 0;
    for (const auto& texts : lines) width = std::max(width, columnsOf(texts[column]));
    return width;
  };
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < shown.size(); ++i) widths.push_back(widest(i));
  const std::size_t indent = indent_ + (label.empty() ? 0 : kLabelWidth);
  const auto width = static_cast<std::size_t>(options_.width);
  const std::string left_out = leaveOut(table, width > indent ? width - indent : 0, shown, widths, lines);
  std::size_t total = indent + table.gap * (shown.size() - 1);
  for (const auto column : widths) total += column;
  narrow(table, shown, total, width, widths);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string head(indent, ' ');
    if (i == 0 && !label.empty()) head.replace(indent_, label.size(), label);
    line(head + tableLine(table, shown, widths, lines[i]));
    if (i == 0 || i > rows || table.notes.size() < i || table.notes[i - 1].empty()) continue;
    line(std::string(indent + 2, ' ') + cut(printable(table.notes[i - 1]), width - indent - 2));
  }
  if (!left_out.empty()) {
    out_.append(indent, ' ');
    wrapped("columns left out: " + left_out, indent, indent);
  }
}

}  // namespace pitwall::emit
