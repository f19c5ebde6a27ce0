// One walk over a report feeds an Emitter; the text and the JSON emitter take from each call what they show.
// So both formats say the same, and a new number cannot be forgotten in one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pitwall::emit {

using Json = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// A value as a machine and as a person reads it.
struct Cell {
  Json json;
  std::string text;
  std::optional<double> bar = {};  // a share of 0..1 that formats for people draw, in place of the text
};

// Text for people, without a value for programs.
inline Cell textCell(std::string_view text) { return {{}, std::string(text), {}}; }

enum class Style : std::uint8_t { plain, heading, high, medium, low, info };

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string key;    // of JSON; empty: only in text
  std::string title;  // of text; empty: only in JSON
  Align align = Align::left;
  bool may_be_cut = true;  // to fit the width of a line
  bool is_extra = false;   // left out first where a line has no room for all
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows = {};
  std::size_t text_rows = SIZE_MAX;      // shown in text; JSON has all
  std::size_t gap = 2;                   // blanks between columns
  std::vector<std::string> rest = {};    // stands for the rows that text does not show
  std::vector<std::string> footer = {};  // a last row of text, in the order of the shown columns
  std::vector<std::string> notes =
      {};  // what distinguishes a row from others of its name, printed below it; else empty
  std::vector<std::string> row_names = {};  // by which a page links rows to its timeline; empty = none
};

class Emitter {
 public:
  virtual ~Emitter() = default;

  // An object or list of JSON under `key` (empty inside a list); `title` is a heading of text, empty = none.
  virtual void beginObject(std::string_view key, std::string_view title = {}, Style style = Style::plain) = 0;
  virtual void endObject() = 0;
  virtual void beginList(std::string_view key, std::string_view title = {}) = 0;
  virtual void endList() = 0;

  // A labelled value; an empty label keeps it out of the text, an empty key out of JSON. Inside a list the
  // key is ignored.
  virtual void field(std::string_view key, std::string_view label, const Cell& cell) = 0;
  virtual void table(std::string_view key, std::string_view label, const Table& table) = 0;

  // Text that is copied, such as a command: its lines stay as they are.
  virtual void code(std::string_view label, std::string_view text) = 0;

  // Text only.
  virtual void heading(std::string_view title) = 0;
  virtual void paragraph(std::string_view text) = 0;
};

}  // namespace pitwall::emit
