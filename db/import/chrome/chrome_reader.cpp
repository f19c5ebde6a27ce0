// Reads a Chrome Trace Event document through a window, event by event.
//
// A damaged event is left out: reading continues at the next text that looks like the start of an event ("}"
// "," "{"). All damage is counted with its byte and line.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "db/import/chrome/chrome_interpreter.h"
#include "db/import/chrome/dialect.h"
#include "db/import/chrome/event_parser.h"
#include "db/import/input/scan.h"
#include "db/import/input/text.h"
#include "db/import/readers.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kLongestMember = std::size_t{1} << 20;  // of the document's members that are kept
constexpr std::int64_t kMostDamages = 1000;                   // then reading stops

class ChromeReader {
 public:
  ChromeReader(Window& window, const ImportOptions& options, Builder& builder, ChromeDialect* dialect)
      : window_(window),
        limit_(static_cast<std::size_t>(options.limits.record_bytes)),
        builder_(builder),
        interpreter_(builder, dialect) {}

  Status run() {
    Status status = document();
    if (!status.has_value() && !ended_early_) return status;
    interpreter_.end();
    if (!window_.source().damage().empty()) builder_.tally().damaged(window_.source().damage());
    return {};
  }

 private:
  // The next character that is not white space, '\0' at the end of the input. White space is consumed.
  Result<char> next() {
    for (;;) {
      const std::string_view view = window_.view();
      std::size_t at = 0;
      while (at < view.size() && isJsonSpace(view[at])) ++at;
      if (at < view.size()) {
        window_.take(at);
        return window_.view()[0];
      }
      window_.take(view.size());
      if (window_.atEnd()) return '\0';
      PITWALL_TRY(window_.more(limit_));
    }
  }

  // Stops reading here; events read so far are kept.
  Failure stop(std::string what) {
    ended_early_ = true;
    builder_.tally().damaged(what);
    return fail(ErrorCode::invalidInput, std::move(what));
  }

  Status document() {
    if (window_.view().substr(0, 3) == "\xEF\xBB\xBF") window_.take(3);
    auto first = PITWALL_TRY(next());
    if (first == '[') {
      window_.take(1);
      PITWALL_TRY(events(Container::array));
      return afterDocument();
    }
    if (first == ',') {
      builder_.tally().repaired("a document that begins with a comma instead of its opening",
                                window_.place());
      return events(Container::none);
    }
    if (first == '{') {
      if (startsAsEvent()) return events(Container::none);
      window_.take(1);
      PITWALL_TRY(object());
      return afterDocument();
    }
    return stop(fmt::format("not JSON at {}", window_.place()));
  }

  enum class Container { array, member, none };

  // Whether the first object is one event of a file with one event per line, not the whole document.
  bool startsAsEvent() {
    ChromeEvent event;
    const std::string_view head = window_.view();
    if (head.find("\"traceEvents\"") != std::string_view::npos) return false;
    const ParsedEvent parsed = parseEvent(head, event);
    return parsed.status != JsonStatus::needMore || window_.atEnd()
               ? event.phase.type == JsonType::string || event.dimension.type == JsonType::string
               : false;
  }

  // The members of the document, after its '{'.
  Status object() {
    for (;;) {
      auto c = PITWALL_TRY(next());
      if (c == '\0') return stop(fmt::format("the document does not end: cut at {}", window_.place()));
      if (c == ',') {
        window_.take(1);
        continue;
      }
      if (c == '}') {
        window_.take(1);
        return {};
      }
      PITWALL_TRY(documentMember());
    }
  }

  Status documentMember() {
    JsonValue key;
    std::size_t used = 0;
    for (;;) {  // the name and what its value begins with
      JsonScanner scan(window_.view());
      const JsonStatus status = scan.peek() == '"' ? scan.value(key) : JsonStatus::damaged;
      const bool colon = status == JsonStatus::ok && scan.take(':');
      if (colon && scan.peek() != '\0') {
        scan.skipSpace();
        used = scan.position();
        break;
      }
      if (status == JsonStatus::damaged || (status == JsonStatus::ok && !colon && scan.peek() != '\0')) {
        return stop(
            fmt::format("not JSON at {}: a member's name is missing", window_.place(scan.position())));
      }
      if (window_.atEnd()) return stop(fmt::format("the document does not end: cut at {}", window_.place()));
      PITWALL_TRY(window_.more(limit_));
    }
    const std::string name(key.text);
    window_.take(used);
    if (name == "traceEvents" && window_.view()[0] == '[') {
      window_.take(1);
      return events(Container::member);
    }
    return memberValue(name);
  }

  Status memberValue(const std::string& name) {
    for (;;) {
      JsonScanner scan(window_.view());
      JsonValue value;
      const JsonStatus status = scan.value(value);
      if (status == JsonStatus::ok) {
        interpreter_.documentMember(name, value);
        if (scan.repairs() > 0) builder_.tally().repaired(scan.repairKind(), window_.place());
        window_.take(scan.position());
        return {};
      }
      if (status == JsonStatus::damaged) {
        return stop(fmt::format("not JSON at {}: {}", window_.place(scan.position()), scan.error()));
      }
      if (window_.atEnd()) return stop(fmt::format("the document does not end: cut at {}", window_.place()));
      if (window_.view().size() >= kLongestMember) {
        interpreter_.documentMember(name, {});
        return skipLong();
      }
      PITWALL_TRY(window_.more(limit_));
    }
  }

  // Skips a value of any length.
  Status skipLong() {
    int depth = 0;
    bool in_string = false;
    bool escaped = false;
    for (;;) {
      const std::string_view view = window_.view();
      for (std::size_t i = 0; i < view.size(); ++i) {
        const char c = view[i];
        if (escaped) {
          escaped = false;
        } else if (in_string) {
          escaped = c == '\\';
          if (c == '"') in_string = false;
        } else if (c == '"') {
          in_string = true;
        } else if (c == '{' || c == '[') {
          ++depth;
        } else if (depth > 0 && (c == '}' || c == ']')) {
          --depth;
          if (depth > 0) continue;
          window_.take(i + 1);
          return {};
        } else if (depth == 0 && (c == ',' || c == '}')) {
          window_.take(i);
          return {};
        }
      }
      window_.take(view.size());
      if (window_.atEnd()) return stop(fmt::format("the document does not end: cut at {}", window_.place()));
      PITWALL_TRY(window_.more(limit_));
    }
  }

  // Events one after the other, after the '[' or from the start of the file.
  Status events(Container container) {
    for (;;) {
      auto c = PITWALL_TRY(next());
      if (c == '\0') {
        if (container == Container::array)
          builder_.tally().repaired("an array of events that is not closed", window_.place());
        if (container == Container::member)
          return stop(fmt::format("the document does not end: cut at {}", window_.place()));
        return {};
      }
      if (c == ',') {
        window_.take(1);
      } else if (c == ']') {
        window_.take(1);
        if (container != Container::none) return {};
      } else if (c == '{') {
        PITWALL_TRY(event());
      } else if (container == Container::none && c == '}') {
        window_.take(1);  // the tail of a document whose head is missing
      } else {
        PITWALL_TRY(notAnEvent(container));
      }
    }
  }

  Status notAnEvent(Container container) {
    for (;;) {
      JsonScanner scan(window_.view());
      JsonValue value;
      const JsonStatus status = scan.value(value);
      if (status == JsonStatus::ok) {
        const Place place{window_, 0, window_.view().substr(0, scan.position())};
        if (container == Container::none && scan.take(':')) {
          // A member after the events ("displayTimeUnit": "ms"): its value follows and is skipped too.
        } else {
          builder_.tally().dropped("values among the events that are not events", place);
        }
        window_.take(scan.position());
        return {};
      }
      if (status == JsonStatus::damaged) return damagedEvent(scan.position(), scan.error());
      if (window_.atEnd())
        return stop(fmt::format("the last event is cut: the file ends inside it, which begins at {}",
                                window_.place()));
      PITWALL_TRY(window_.more(limit_));
    }
  }

  Status event() {
    for (;;) {
      const ParsedEvent parsed = parser_.parse(window_.view(), event_);
      if (parsed.status == JsonStatus::ok) {
        const Place place{window_, 0, window_.view().substr(0, parsed.taken)};
        if (parsed.repairs > 0) builder_.tally().repaired(parsed.repair_kind, place);
        interpreter_.event(event_, place);
        window_.take(parsed.taken);
        return {};
      }
      if (parsed.status == JsonStatus::damaged) return damagedEvent(parsed.taken, parsed.error);
      if (window_.atEnd()) {
        return stop(fmt::format("the last event is cut: the file ends inside it, which begins at {}",
                                window_.place()));
      }
      if (auto more = window_.more(limit_); !more.has_value()) {
        if (more.error().code != ErrorCode::invalidInput || window_.view().size() < limit_) return more;
        return stop(fmt::format("an event longer than {} bytes begins at {}", limit_, window_.place()));
      }
    }
  }

  // Skips damaged text up to the next start of an event.
  Status damagedEvent(std::size_t at, const char* why) {
    builder_.tally().dropped("damaged events", fmt::format("{}: {}: {}", window_.place(at), why,
                                                           quotedText(window_.view().substr(0, 120))));
    if (++damages_ > kMostDamages)
      return stop(
          fmt::format("more than {} damaged events; given up at {}", kMostDamages, window_.place(at)));
    std::size_t from = std::min(at, window_.view().size());
    for (;;) {
      const std::string_view view = window_.view();
      while (from < view.size()) {
        const std::size_t brace = view.find('}', from);
        if (brace == std::string_view::npos) break;
        std::size_t i = view.find_first_not_of(" \t\r\n", brace + 1);
        if (i != std::string_view::npos && view[i] == ',') i = view.find_first_not_of(" \t\r\n", i + 1);
        if (i == std::string_view::npos) {
          from = brace;
          break;
        }
        if (view[i] == '{' || view[i] == ']') {
          window_.take(i);
          return {};
        }
        from = brace + 1;
      }
      // Keep the last bytes: the sequence may continue in the next ones.
      const std::size_t brace = view.find('}', from);
      const std::size_t keep = brace == std::string_view::npos ? view.size() : brace;
      window_.take(keep);
      from = 0;
      if (window_.atEnd()) {
        builder_.tally().damaged(fmt::format("damaged, and no event after it: {}", window_.place()));
        window_.take(window_.view().size());
        return {};
      }
      PITWALL_TRY(window_.more(limit_));
    }
  }

  Status afterDocument() {
    auto c = PITWALL_TRY(next());
    if (c == '\0') return {};
    const std::string rest = fmt::format("something follows the end of the document at {}", window_.place());
    builder_.tally().dropped(
        c == '{' || c == '[' ? "a second document in the same file: not read" : "text after the document",
        rest);
    builder_.tally().note(rest);
    return {};
  }

  Window& window_;
  const std::size_t limit_;
  Builder& builder_;
  ChromeInterpreter interpreter_;
  EventParser parser_;
  ChromeEvent event_;
  std::int64_t damages_ = 0;
  bool ended_early_ = false;
};

}  // namespace

Status readChrome(Window& window, const ImportOptions& options, Builder& builder) {
  return ChromeReader(window, options, builder, nullptr).run();
}

Status readChromeAs(Window& window, const ImportOptions& options, Builder& builder, ChromeDialect& dialect) {
  return ChromeReader(window, options, builder, &dialect).run();
}

}  // namespace pitwall::import
