#include "analyzer/emit/html_emitter.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/emit/utf8.h"

namespace pitwall::emit {
namespace {

constexpr std::size_t kShownRows = 200;
constexpr double kBarWidthEm = 12;  // of a share of 1

constexpr char kStyle[] = R"css(
:root { color-scheme: light dark; --text: #1c1e21; --soft: #5f6670; --back: #fff; --card: #f5f6f8; --line: #d9dce1;
  --high: #b3261e; --medium: #a15c00; --low: #0b6e99; --info: #4a5560; --bar: #3f6fb5; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #a0a7b0; --back: #16181b; --card: #202327;
  --line: #383d44; --high: #ff8a80; --medium: #ffb95c; --low: #7cc7ea; --info: #b4bcc6; --bar: #7ea6e0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 62em;
  margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid var(--line); }
h3 { font-size: 1em; margin: 0 0 .3em; }
section { background: var(--card); border-left: 4px solid var(--line); padding: .7em 1em; margin: 1em 0; }
section.high { border-color: var(--high); } section.high h3 { color: var(--high); }
section.medium { border-color: var(--medium); } section.medium h3 { color: var(--medium); }
section.low { border-color: var(--low); } section.low h3 { color: var(--low); }
dl { display: grid; grid-template-columns: minmax(5.5em, max-content) 1fr; gap: .15em 1em; margin: .5em 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9em; margin: .5em 0; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .15em .8em .15em 0; border-bottom: 1px solid var(--line); vertical-align: top; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85em; }
td { max-width: 30em; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tfoot td { font-weight: 600; } .bar { display: inline-block; height: .7em; background: var(--bar); }
.soft { color: var(--soft); } figure { margin: 1em 0; } figcaption { color: var(--soft); font-size: .9em; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
)css";

const char* classOf(Style style) {
  switch (style) {
    case Style::high: return "high";
    case Style::medium: return "medium";
    case Style::low: return "low";
    default: return "info";
  }
}

std::string cellMarkup(const Cell& cell) {
  if (!cell.bar) return htmlEscaped(cell.text);
  return fmt::format("<span class=\"bar\" style=\"width:{:.2f}em\"></span>", *cell.bar * kBarWidthEm);
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

HtmlEmitter::HtmlEmitter(std::string_view title, std::string_view charts) {
  out_ = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; "
      "style-src "
      "'unsafe-inline'\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}",
      htmlEscaped(title), kStyle, charts);
}

void HtmlEmitter::endItems() {
  if (in_items_) out_ += "</dl>\n";
  in_items_ = false;
}

void HtmlEmitter::beginObject(std::string_view, std::string_view title, Style style) {
  endItems();
  if (title.empty()) {
    closing_.push_back("");
  } else if (style == Style::heading) {
    out_ += fmt::format("<h2>{}</h2>\n", htmlEscaped(title));
    closing_.push_back("");
  } else {
    out_ += fmt::format("<section class=\"{}\">\n<h3>{}</h3>\n", classOf(style), htmlEscaped(title));
    closing_.push_back("</section>\n");
  }
}

void HtmlEmitter::endObject() {
  endItems();
  out_ += closing_.back();
  closing_.pop_back();
}

void HtmlEmitter::beginList(std::string_view, std::string_view title) {
  endItems();
  if (!title.empty()) heading(title);
  closing_.push_back("");
}

void HtmlEmitter::endList() { endObject(); }

void HtmlEmitter::heading(std::string_view title) {
  endItems();
  out_ += fmt::format("<h2>{}</h2>\n", htmlEscaped(title));
}

void HtmlEmitter::field(std::string_view, std::string_view label, const Cell& cell) {
  if (label.empty() || cell.text.empty()) return;
  if (!in_items_) out_ += "<dl>\n";
  in_items_ = true;
  out_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", label == "-" || label == " " ? "" : htmlEscaped(label),
                      htmlEscaped(cell.text));
}

void HtmlEmitter::code(std::string_view label, std::string_view text) {
  endItems();
  out_ += fmt::format("<p class=\"soft\">{}</p>\n<pre>", htmlEscaped(label));
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    out_ += htmlEscaped(text.substr(at, end - at)) + '\n';
    at = end + 1;
  }
  out_ += "</pre>\n";
}

void HtmlEmitter::paragraph(std::string_view text) {
  endItems();
  out_ += fmt::format("<p>{}</p>\n", htmlEscaped(text));
}

void HtmlEmitter::table(std::string_view, std::string_view label, const Table& table) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].title.empty()) shown.push_back(c);
  }
  if (shown.empty() || table.rows.empty() || table.text_rows == 0) return;
  endItems();
  if (!label.empty()) out_ += fmt::format("<p class=\"soft\">{}</p>\n", htmlEscaped(label));
  const auto cell = [&](const char* tag, std::size_t column, const std::string& markup) {
    const bool number = table.columns[column].align == Align::right;
    out_ += fmt::format("<{0}{1}>{2}</{0}>", tag, number ? " class=\"number\"" : "", markup);
  };
  out_ += "<div class=\"scroll\"><table><thead><tr>";
  for (const auto c : shown) cell("th", c, htmlEscaped(table.columns[c].title));
  out_ += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < std::min(table.rows.size(), kShownRows); ++r) {
    out_ += "<tr>";
    for (const auto c : shown) {
      const bool has_note = c == shown.front() && r < table.notes.size() && !table.notes[r].empty();
      cell("td", c,
           cellMarkup(table.rows[r][c]) +
               (has_note ? "<br><span class=\"soft\">" + htmlEscaped(table.notes[r]) + "</span>" : ""));
    }
    out_ += "</tr>\n";
  }
  out_ += "</tbody>";
  if (!table.footer.empty()) {
    out_ += "<tfoot><tr>";
    for (std::size_t i = 0; i < shown.size(); ++i)
      cell("td", shown[i], i < table.footer.size() ? htmlEscaped(table.footer[i]) : "");
    out_ += "</tr></tfoot>";
  }
  out_ += "</table></div>\n";
  if (table.rows.size() > kShownRows)
    out_ += fmt::format("<p class=\"soft\">and {} more</p>\n", table.rows.size() - kShownRows);
}

std::string HtmlEmitter::take() && {
  endItems();
  return std::move(out_) + "</body>\n</html>\n";
}

}  // namespace pitwall::emit
