#include "analyzer/emit/timeline_section.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/utf8.h"
#include "analyzer/units_text.h"
#include "db/json_string.h"

namespace pitwall::emit {
namespace {

// What the data may contain.
struct Budget {
  std::size_t columns = 160;  // of a name
  double shortest = 0;        // share of the window that an event lasts at least
};

// JSON that may stand within a script element: it cannot end it, and every parser of scripts reads it.
void appendText(const std::string& text, std::size_t columns, std::string& out) {
  std::string json;
  appendJsonString(printable(shortened(text, columns)), json);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool is_separator =
        json.compare(i, 3, "\xE2\x80\xA8") == 0 || json.compare(i, 3, "\xE2\x80\xA9") == 0;
    if (is_separator) {
      out += json[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (json[i] == '<' || json[i] == '>' || json[i] == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(json[i]));
    } else {
      out += json[i];
    }
  }
}

// Appends a list; `append` writes one element.
template <typename All, typename Append>
void appendList(const All& all, std::string& out, const Append& append) {
  out += '[';
  bool is_first = true;
  for (const auto& one : all) {
    if (!is_first) out += ',';
    is_first = false;
    append(one);
  }
  out += ']';
}

void appendRows(const ReportTimeline& timeline, const Budget& budget, std::string& out) {
  appendList(timeline.rows, out, [&](const ReportTimeline::Row& row) {
    out += "{\"title\":";
    appendText(row.title, budget.columns, out);
    out += ",\"group\":";
    appendText(row.group, budget.columns, out);
    fmt::format_to(std::back_inserter(out), ",\"depths\":{},\"deeper\":{},\"activity\":\"", row.depths,
                   row.too_deep);
    for (const double share : row.activity)
      out +=
          static_cast<char>('0' + static_cast<int>(std::clamp(share, 0.0, 1.0) * 9 + (share > 0 ? 0.5 : 0)));
    out += "\"}";
  });
}

// Each piece is the time since the piece before it began, its duration, its item and its number of events.
void appendWindows(const ReportTimeline& timeline, const Budget& budget, std::string& out) {
  appendList(timeline.windows, out, [&](const ReportTimeline::Window& window) {
    const double shortest = budget.shortest * static_cast<double>(window.end_ns - window.begin_ns);
    fmt::format_to(std::back_inserter(out),
                   "{{\"begin\":{},\"end\":{},\"lanes\":", window.begin_ns - timeline.begin_ns,
                   window.end_ns - timeline.begin_ns);
    appendList(window.lanes, out, [&](const ReportTimeline::Lane& lane) {
      fmt::format_to(std::back_inserter(out), "[{},{}", lane.row, lane.depth);
      TimeNs before = timeline.begin_ns;
      for (const auto& piece : lane.pieces) {
        if (static_cast<double>(piece.dur_ns) < shortest) continue;
        fmt::format_to(std::back_inserter(out), ",{},{},{},{}", piece.start_ns - before, piece.dur_ns,
                       piece.item, piece.count);
        before = piece.start_ns;
      }
      out += ']';
    });
    out += '}';
  });
}

std::string dataOf(const ReportTimeline& timeline, const Budget& budget) {
  std::string out =
      fmt::format("{{\"length\":{},\"home\":[{},{}],\"left_out\":{},\"shortest\":{},\"items\":",
                  timeline.end_ns - timeline.begin_ns, timeline.home_ns - timeline.begin_ns,
                  timeline.home_end_ns - timeline.begin_ns, timeline.rows_left_out, budget.shortest);
  appendList(timeline.items, out, [&](const ReportTimeline::Item& item) {
    out += '[';
    appendText(item.text, budget.columns, out);
    out += ',';
    appendText(item.category, budget.columns, out);
    out += ',';
    appendText(item.detail, budget.columns, out);
    out += ']';
  });
  out += ",\"rows\":";
  appendRows(timeline, budget, out);
  out += ",\"windows\":";
  appendWindows(timeline, budget, out);
  out += ",\"path\":";
  appendList(timeline.critical_path, out, [&](const ReportTimeline::Step& step) {
    fmt::format_to(std::back_inserter(out), "[{},{},{},{},{}]", step.start_ns - timeline.begin_ns,
                   step.dur_ns, step.item, step.row ? static_cast<std::int64_t>(*step.row) : -1, step.count);
  });
  out += ",\"places\":{";
  for (const auto& place : timeline.places) {
    if (&place != timeline.places.data()) out += ',';
    fmt::format_to(std::back_inserter(out), "\"{}\":[{},{},{}]", placeName(place.finding, place.evidence),
                   place.start_ns - timeline.begin_ns, place.dur_ns,
                   place.row ? static_cast<std::int64_t>(*place.row) : -1);
  }
  return out + "}}";
}

std::string fittingData(const ReportTimeline& timeline, std::size_t most_bytes) {
  Budget budget;
  std::string data = dataOf(timeline, budget);
  while (data.size() > most_bytes && budget.shortest < 1) {
    if (budget.columns > 24) {
      budget.columns /= 2;
    } else {
      budget.shortest = std::max(2 * budget.shortest, 1e-5);
    }
    data = dataOf(timeline, budget);
  }
  return data;
}

}  // namespace

std::string placeName(std::size_t finding, std::size_t evidence) {
  return fmt::format("{}.{}", finding + 1, evidence + 1);
}

std::set<std::string> placeNames(const ReportTimeline& timeline) {
  std::set<std::string> names;
  for (const auto& place : timeline.places) names.insert(placeName(place.finding, place.evidence));
  return names;
}

std::string timelineSection(const ReportTimeline& timeline, std::size_t most_bytes) {
  if (timeline.empty()) return {};
  std::string more;
  if (timeline.rows_left_out > 0)
    more = fmt::format(" {} with fewer events {} not shown.",
                       timeline.rows_left_out == 1 ? "1 row" : showCount(timeline.rows_left_out) + " rows",
                       timeline.rows_left_out == 1 ? "is" : "are");
  return fmt::format(
      "<div id=\"timeline\"><h2>{}</h2>\n<p>{}{}</p>\n"
      "<div class=\"tools\" role=\"toolbar\" aria-label=\"Timeline\" hidden></div>\n"
      "<div class=\"stage\" tabindex=\"0\" role=\"application\" aria-roledescription=\"timeline\" "
      "aria-label=\"{}\" aria-describedby=\"timeline-keys\" hidden></div>\n"
      "<p id=\"timeline-detail\" role=\"status\" aria-live=\"polite\" hidden></p>\n"
      "<ul class=\"legend\" aria-label=\"Colours\" hidden></ul>\n"
      "<p id=\"timeline-keys\" class=\"soft\" hidden>Drag to move, Ctrl and the wheel or + and - to zoom, "
      "double "
      "click to fit an event. Keys: the arrows go from event to event and from row to row, Enter fits the "
      "event, A "
      "and D move, Home shows the beginning again, 0 the whole recording.</p>\n"
      "<noscript><p class=\"soft\">The timeline needs scripts, which are switched off here. The tables have "
      "the "
      "same numbers.</p></noscript>\n"
      "<script type=\"application/json\" id=\"timeline-data\">{}</script></div>\n",
      htmlEscaped(timeline.title), htmlEscaped(timeline.explanation), more, htmlEscaped(timeline.title),
      fittingData(timeline, most_bytes));
}

}  // namespace pitwall::emit
