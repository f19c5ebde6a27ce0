#include "analyzer/emit/markdown_emitter.h"

#include <algorithm>
#include <cctype>

#include "analyzer/emit/bar_text.h"
#include "analyzer/emit/utf8.h"

namespace pitwall::emit {
namespace {

bool isWordAt(const std::string& text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// Escapes markup, also in names from a trace.
std::string escaped(std::string_view text) {
  const std::string clean = printable(text);
  std::string out;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    // Inside a word it is one: kvstore_type. At its ends it would be emphasis: _foreach_mul_.
    const bool underscore = c == '_' && !(i > 0 && isWordAt(clean, i - 1) && isWordAt(clean, i + 1));
    const bool heading = i == 0 && (c == '#' || c == '+' || c == '-') && clean.size() > 1 && clean[1] == ' ';
    if (underscore || heading || std::string_view("\\`*<>|[]~&").find(c) != std::string_view::npos)
      out += '\\';
    out += c;
  }
  return out;
}

// "WHERE THE TIME GOES" shouts in Markdown: "Where the time goes".
std::string sentence(std::string_view title) {
  std::string text(title);
  const auto lower = [](unsigned char c) { return std::islower(c) != 0; };
  const auto end = text.find_first_of(":,");
  const std::size_t head = std::min(end, text.size());
  if (std::any_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(head), lower)) return text;
  for (std::size_t i = 1; i < head; ++i)
    text[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  return text;
}

}  // namespace

void MarkdownEmitter::endItems() {
  if (in_items_) out_ += '\n';
  in_items_ = false;
}

void MarkdownEmitter::beginObject(std::string_view, std::string_view title, Style style) {
  if (title.empty()) return;
  endItems();
  out_ += (style == Style::heading ? "## " : "### ") + escaped(sentence(title)) + "\n\n";
}

void MarkdownEmitter::beginList(std::string_view, std::string_view title) {
  if (!title.empty()) heading(title);
}

void MarkdownEmitter::heading(std::string_view title) {
  endItems();
  out_ += "## " + escaped(sentence(title)) + "\n\n";
}

void MarkdownEmitter::field(std::string_view, std::string_view label, const Cell& cell) {
  if (label.empty() || cell.text.empty()) return;
  if (label == "-") {
    out_ += "- " + escaped(cell.text) + "\n";
  } else if (label == " ") {
    out_ += "  " + escaped(cell.text) + "\n";  // continues the item above
  } else {
    out_ += "- **" + escaped(label) + ":** " + escaped(cell.text) + "\n";
  }
  in_items_ = true;
}

// A fence longer than any run of '`' in it.
void MarkdownEmitter::code(std::string_view label, std::string_view text) {
  endItems();
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos) fence += '`';
  out_ += escaped(label) + ":\n\n" + fence + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    out_ += printable(text.substr(at, end - at)) + '\n';
    at = end + 1;
  }
  out_ += fence + "\n\n";
}

void MarkdownEmitter::paragraph(std::string_view text) {
  endItems();
  out_ += escaped(text) + "\n\n";
}

void MarkdownEmitter::table(std::string_view, std::string_view label, const Table& table) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].title.empty()) shown.push_back(c);
  }
  if (shown.empty() || table.rows.empty() || table.text_rows == 0) return;
  endItems();
  if (!label.empty()) out_ += escaped(label) + ":\n\n";
  const auto line = [&](const auto& text_of) {
    out_ += '|';
    for (std::size_t i = 0; i < shown.size(); ++i) out_ += " " + text_of(i) + " |";
    out_ += '\n';
  };
  line([&](std::size_t i) { return escaped(table.columns[shown[i]].title); });
  line([&](std::size_t i) {
    return std::string(table.columns[shown[i]].align == Align::right ? "---:" : "---");
  });
  for (std::size_t r = 0; r < std::min(table.rows.size(), table.text_rows); ++r)
    line([&](std::size_t i) {
      const bool has_note = i == 0 && r < table.notes.size() && !table.notes[r].empty();
      return escaped(textOf(table.rows[r][shown[i]])) +
             (has_note ? " (" + escaped(table.notes[r]) + ")" : "");
    });
  if (table.rows.size() > table.text_rows && !table.rest.empty())
    line([&](std::size_t i) { return escaped(table.rest[i]); });
  if (!table.footer.empty()) {
    line([&](std::size_t i) {
      return i < table.footer.size() && !table.footer[i].empty() ? "**" + escaped(table.footer[i]) + "**"
                                                                 : std::string();
    });
  }
  out_ += '\n';
}

}  // namespace pitwall::emit
