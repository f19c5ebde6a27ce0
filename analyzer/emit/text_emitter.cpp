#include "analyzer/emit/text_emitter.h"

#include <algorithm>

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

std::string cut(std::string text, std::size_t width) {
  if (columnsOf(text) <= width) return text;
  while (columnsOf(text) + 1 > width && !text.empty()) {
    do {
      const bool continuation = (text.back() & 0xC0) == 0x80;
      text.pop_back();
      if (!continuation) break;
    } while (!text.empty());
  }
  return text + "~";
}

// Makes the widest columns give way until a line fits.
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

}  // namespace

void TextEmitter::line(std::string_view text, Style style) {
  const bool colored = options_.color && style != Style::plain;
  if (colored) out_ += escapeOf(style);
  out_ += text;
  if (colored) out_ += "\033[0m";
  out_ += '\n';
}

void TextEmitter::wrapped(std::string_view text, std::size_t first_indent, std::size_t indent) {
  const std::string clean = printable(text);
  const auto width = static_cast<std::size_t>(options_.width);
  std::size_t column = first_indent;
  bool empty_line = true;
  std::size_t at = 0;
  while (at < clean.size()) {
    const auto end = std::min(clean.find(' ', at), clean.size());
    const std::string word = clean.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
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

void TextEmitter::beginObject(std::string_view, std::string_view title, Style style) {
  if (title.empty()) return;
  out_ += '\n';
  const std::string clean = printable(title);
  if (columnsOf(clean) <= static_cast<std::size_t>(options_.width)) {
    line(clean, style);
  } else {
    const bool colored = options_.color && style != Style::plain;
    if (colored) out_ += escapeOf(style);
    wrapped(clean, 0, kCardIndent);
    if (colored) out_.insert(out_.size() - 1, "\033[0m");
  }
  indent_ = kCardIndent;
}

void TextEmitter::endObject() { indent_ = kCardIndent; }

void TextEmitter::beginList(std::string_view, std::string_view title) {
  if (!title.empty()) heading(title);
}

void TextEmitter::endList() {}

void TextEmitter::heading(std::string_view title) {
  out_ += '\n';
  line(printable(title), Style::heading);
  indent_ = kCardIndent;
}

void TextEmitter::field(std::string_view, std::string_view label, const Cell& cell) {
  if (label.empty() || cell.text.empty()) return;
  std::string head = std::string(indent_, ' ') + std::string(label);
  const std::size_t body = indent_ + kLabelWidth;
  head.resize(std::max(body, head.size() + 1), ' ');
  out_ += head;
  wrapped(cell.text, head.size(), body);
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
  if (shown.empty() || table.rows.empty()) return;

  std::vector<std::vector<std::string>> lines(1);
  for (const auto c : shown) lines[0].push_back(table.columns[c].title);
  for (std::size_t r = 0; r < std::min(table.rows.size(), table.text_rows); ++r) {
    auto& texts = lines.emplace_back();
    for (const auto c : shown) texts.push_back(printable(table.rows[r][c].text));
  }
  if (table.rows.size() > table.text_rows && !table.rest.empty()) lines.push_back(table.rest);
  if (!table.footer.empty()) lines.push_back(table.footer);

  std::vector<std::size_t> widths(shown.size(), 0);
  for (const auto& texts : lines) {
    for (std::size_t i = 0; i < shown.size(); ++i) widths[i] = std::max(widths[i], columnsOf(texts[i]));
  }
  std::size_t indent = indent_ + (label.empty() ? 0 : kLabelWidth);
  std::size_t total = indent + table.gap * (shown.size() - 1);
  for (const auto width : widths) total += width;
  narrow(table, shown, total, static_cast<std::size_t>(options_.width), widths);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string head(indent, ' ');
    if (i == 0 && !label.empty()) head.replace(indent_, label.size(), label);
    line(head + tableLine(table, shown, widths, lines[i]));
  }
}

}  // namespace pitwall::emit
