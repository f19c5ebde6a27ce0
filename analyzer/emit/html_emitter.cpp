#include "analyzer/emit/html_emitter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "analyzer/emit/page.h"
#include "analyzer/emit/utf8.h"

namespace pitwall::emit {
namespace {

constexpr double kBarWidthEm = 12;  // of a share of 1
constexpr std::size_t kMostItems = 300;
constexpr std::size_t kMostLines = 200;
constexpr std::size_t kPrintedRows = 30;  // as in report.css

// How long texts and tables are on a page that has so many bytes already.
struct Room {
  std::size_t below_bytes, columns, rows;
};
constexpr Room kRooms[] = {{300'000, 2000, 200}, {500'000, 200, 100}, {700'000, 60, 20}, {SIZE_MAX, 24, 5}};

const Room& roomAt(std::size_t bytes) {
  return *std::find_if(std::begin(kRooms), std::end(kRooms),
                       [bytes](const Room& room) { return bytes < room.below_bytes; });
}

const char* classOf(Style style) {
  switch (style) {
    case Style::high: return "high";
    case Style::medium: return "medium";
    case Style::low: return "low";
    default: return "info";
  }
}

bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// "WHERE THE TIME GOES" of a terminal is "Where the time goes" on a page.
std::string sentenceCase(std::string_view title) {
  std::string out(title);
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (!isUpper(out[at])) continue;
    std::size_t end = at;
    while (end < out.size() && isUpper(out[end])) ++end;
    const bool is_short_name = out.compare(at, end - at, "CPU") == 0 || out.compare(at, end - at, "GPU") == 0;
    const bool is_word =
        end - at > 1 && (end == out.size() || std::isalnum(static_cast<unsigned char>(out[end])) == 0);
    for (std::size_t i = at == 0 ? 1 : at; is_word && !is_short_name && i < end; ++i)
      out[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[i])));
    at = end;
  }
  return out;
}

// "1. HIGH: title [id]" with its severity and id set apart.
std::string findingTitle(const std::string& title, Style style) {
  const auto colon = title.find(": "), dot = title.find(". "), bracket = title.rfind(" [");
  if (style == Style::plain || dot == std::string::npos || colon == std::string::npos || dot > colon ||
      bracket == std::string::npos || bracket < colon)
    return htmlEscaped(title);
  return fmt::format("{}<span class=\"badge\">{}</span> {} <span class=\"id\">{}</span>",
                     htmlEscaped(title.substr(0, dot + 2)), classOf(style),
                     htmlEscaped(title.substr(colon + 2, bracket - colon - 2)),
                     htmlEscaped(title.substr(bracket + 1)));
}

// Where it is not what the text shows: what a table is sorted by.
std::string valueOf(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell.json)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell.json)) return fmt::format("{}", *real);
  return {};
}

}  // namespace

std::string htmlEscaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

HtmlEmitter::HtmlEmitter(std::string_view title, PageParts parts)
    : parts_(std::move(parts)),
      title_(shortened(title, 300)),
      out_(parts_.before[""]),
      parts_bytes_(out_.size()) {}

std::string HtmlEmitter::shownText(std::string_view text) const {
  return htmlEscaped(shortened(text, roomAt(out_.size() - parts_bytes_).columns));
}

std::size_t HtmlEmitter::shownRows() const { return roomAt(out_.size() - parts_bytes_).rows; }

void HtmlEmitter::endItems() {
  if (in_items_) out_ += "</dl>\n";
  if (items_ > kMostItems) out_ += fmt::format("<p class=\"soft\">and {} more</p>\n", items_ - kMostItems);
  in_items_ = false;
  items_ = 0;
}

void HtmlEmitter::insertPart(std::string_view key) {
  const auto found = parts_.before.find(std::string(key));
  if (found == parts_.before.end()) return;
  out_ += found->second;
  parts_bytes_ += found->second.size();
}

void HtmlEmitter::begin(std::string_view key, const std::string& opening, const char* closing) {
  endItems();
  const bool is_part = closing_.size() == 1 && !key.empty();
  if (is_part) {
    insertPart(key);
    out_ += fmt::format("<div id=\"{}\">\n", key);
  }
  out_ += opening;
  closing_.push_back(std::string(closing) + (is_part ? "</div>\n" : ""));
}

void HtmlEmitter::beginObject(std::string_view key, std::string_view title, Style style) {
  if (title.empty()) return begin(key, "", "");
  if (style == Style::heading) {
    begin(key, "", "");
    return heading(title);
  }
  begin(key,
        fmt::format("<section class=\"{}\">\n<h3>{}</h3>\n", classOf(style),
                    findingTitle(shortened(title, roomAt(out_.size() - parts_bytes_).columns), style)),
        "</section>\n");
}

void HtmlEmitter::endObject() {
  endItems();
  out_ += closing_.back();
  closing_.pop_back();
}

void HtmlEmitter::beginList(std::string_view key, std::string_view title) {
  begin(key, "", "");
  if (!title.empty()) heading(title);
}

void HtmlEmitter::endList() { endObject(); }

void HtmlEmitter::heading(std::string_view title) {
  endItems();
  const std::string text = sentenceCase(shortened(title, roomAt(out_.size() - parts_bytes_).columns));
  headings_.emplace_back(fmt::format("part-{}", headings_.size() + 1), text);
  out_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", headings_.back().first, htmlEscaped(text));
}

void HtmlEmitter::field(std::string_view, std::string_view label, const Cell& cell) {
  if (label.empty() || cell.text.empty()) return;
  if (++items_ > kMostItems) return;
  if (!in_items_) out_ += "<dl>\n";
  in_items_ = true;
  out_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", label == "-" || label == " " ? "" : shownText(label),
                      shownText(cell.text));
}

void HtmlEmitter::code(std::string_view label, std::string_view text) {
  endItems();
  out_ += fmt::format("<p class=\"soft\">{}</p>\n<pre>", shownText(label));
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (lines < kMostLines) out_ += shownText(text.substr(at, end - at)) + '\n';
    at = end + 1;
  }
  out_ += "</pre>\n";
  if (lines > kMostLines)
    out_ += fmt::format("<p class=\"soft\">and {} more lines</p>\n", lines - kMostLines);
}

void HtmlEmitter::paragraph(std::string_view text) {
  endItems();
  out_ += fmt::format("<p>{}</p>\n", shownText(text));
}

std::string HtmlEmitter::rowMarkup(const Table& table, const std::vector<std::size_t>& shown, std::size_t row,
                                   bool has_places) const {
  std::string out = "<tr>";
  if (has_places) {
    const std::string place = row < table.row_names.size() ? table.row_names[row] : "";
    out += parts_.places.contains(place)
               ? fmt::format(
                     "<td><button class=\"place\" data-place=\"{}\" aria-label=\"Show row {} in the "
                     "timeline\">&#9656;</button></td>",
                     place, row + 1)
               : "<td></td>";
  }
  for (const auto c : shown) {
    const Cell& cell = table.rows[row][c];
    const std::string value = valueOf(cell);
    const bool has_note = c == shown.front() && row < table.notes.size() && !table.notes[row].empty();
    out += fmt::format("<td{}{}>", table.columns[c].align == Align::right ? " class=\"number\"" : "",
                       value.empty() || value == cell.text ? "" : fmt::format(" data-value=\"{}\"", value));
    out += cell.bar
               ? fmt::format("<span class=\"bar\" style=\"width:{:.2f}em\"></span>", *cell.bar * kBarWidthEm)
               : shownText(cell.text);
    if (has_note) out += "<br><span class=\"soft\">" + shownText(table.notes[row]) + "</span>";
    out += "</td>";
  }
  return out + "</tr>\n";
}

void HtmlEmitter::table(std::string_view key, std::string_view label, const Table& table) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].title.empty()) shown.push_back(c);
  }
  if (shown.empty() || table.rows.empty() || table.text_rows == 0) return;
  endItems();
  if (closing_.size() == 1) insertPart(key);
  if (!label.empty()) out_ += fmt::format("<p class=\"soft\">{}</p>\n", shownText(label));
  const bool has_places = std::any_of(table.row_names.begin(), table.row_names.end(),
                                      [&](const std::string& name) { return parts_.places.contains(name); });
  const auto cell = [&](const char* tag, std::size_t column, const std::string& markup) {
    const bool number = table.columns[column].align == Align::right;
    out_ += fmt::format("<{0}{1}>{2}</{0}>", tag, number ? " class=\"number\"" : "", markup);
  };
  out_ += "<div class=\"scroll\"><table><thead><tr>";
  if (has_places) out_ += "<td></td>";
  for (const auto c : shown) cell("th", c, shownText(table.columns[c].title));
  out_ += "</tr></thead>\n<tbody>\n";
  std::size_t rows = 0;
  for (; rows < std::min(table.rows.size(), shownRows()); ++rows)
    out_ += rowMarkup(table, shown, rows, has_places);
  out_ += "</tbody>";
  if (!table.footer.empty()) {
    out_ += "<tfoot><tr>";
    for (std::size_t i = 0; i < shown.size(); ++i)
      cell("td", shown[i], i < table.footer.size() ? shownText(table.footer[i]) : "");
    out_ += "</tr></tfoot>";
  }
  out_ += "</table></div>\n";
  if (rows > kPrintedRows)
    out_ +=
        fmt::format("<p class=\"soft print-only\">and {} more in the page, of which this is a print</p>\n",
                    rows - kPrintedRows);
  if (table.rows.size() > rows)
    out_ += fmt::format("<p class=\"soft\">and {} more</p>\n", table.rows.size() - rows);
}

std::string HtmlEmitter::take() && {
  endItems();
  std::string links;
  for (const auto& [id, text] : headings_)
    links += fmt::format("<a href=\"#{}\">{}</a>\n", id, htmlEscaped(text.substr(0, text.find(','))));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; style-src 'unsafe-inline'; script-src '{}'\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n<header><h1>{}</h1>\n<nav aria-label=\"Parts of the "
      "report\">\n{}</nav></header>\n<main>\n{}</main>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      kPageScriptHash, htmlEscaped(title_), kPageStyle, htmlEscaped(title_), links, out_, kPageScript);
}

}  // namespace pitwall::emit
