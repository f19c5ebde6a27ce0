// Parses schema.sql: a comment above a table documents the table, one after a column the column, and those
// after the last table document the virtual tables and functions.
#include "db/schema_docs.h"

#include <cctype>
#include <string_view>

namespace pitwall {

namespace store {
extern const char kSchemaSql[];  // generated from db/schema/schema.sql
}

namespace {

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(' ');
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" ,") + 1 - from);
}

void addSentence(std::string& text, std::string_view more) {
  if (trimmed(more).empty()) return;
  if (!text.empty()) text += ' ';
  text += trimmed(more);
}

// "  pid INTEGER NOT NULL,  -- the operating system's process id"
ColumnDoc columnOf(std::string_view line) {
  ColumnDoc column;
  const auto comment = line.find("-- ");
  const std::string_view code = trimmed(line.substr(0, comment));
  if (comment != std::string_view::npos) column.text = std::string(line.substr(comment + 3));
  const auto blank = code.find(' ');
  column.name = std::string(code.substr(0, blank));
  if (blank != std::string_view::npos) {
    const std::string_view rest = trimmed(code.substr(blank));
    column.type = std::string(rest.substr(0, rest.find(' ')));
  }
  return column;
}

// "-- event(id, track, ...)": the name of a virtual table or function at the start of the line.
bool isSignature(std::string_view comment) {
  const auto parenthesis = comment.find('(');
  return !comment.empty() && std::islower(static_cast<unsigned char>(comment.front())) != 0 &&
         parenthesis != std::string_view::npos &&
         comment.substr(0, parenthesis).find(' ') == std::string_view::npos;
}

class Parser {
 public:
  std::vector<TableDoc> parse(std::string_view sql) {
    while (!sql.empty()) {
      const auto end = sql.find('\n');
      line(sql.substr(0, end));
      sql.remove_prefix(end == std::string_view::npos ? sql.size() : end + 1);
    }
    return std::move(tables_);
  }

 private:
  void line(std::string_view line) {
    if (in_table_) {
      if (line.substr(0, 1) == ")") {
        in_table_ = false;
      } else {
        tables_.back().columns.push_back(columnOf(line));
      }
    } else if (line.substr(0, 2) == "--") {
      comment(line.size() > 3 ? line.substr(3) : std::string_view());
    } else if (line.substr(0, 13) == "CREATE TABLE ") {
      TableDoc table;
      table.name = std::string(line.substr(13, line.find('(') - 13));
      table.text = std::move(pending_);
      table.is_chunk = table.name.ends_with("_chunk") || table.name == "event_summary";
      tables_.push_back(std::move(table));
      in_table_ = true;
      pending_.clear();
    } else {
      pending_.clear();
    }
  }

  void comment(std::string_view comment) {
    if (comment.substr(0, 14) == "Virtual tables") virtual_ = true;
    if (virtual_ && isSignature(comment)) {
      TableDoc table;
      table.name = std::string(comment);
      table.is_virtual = true;
      tables_.push_back(std::move(table));
    } else if (virtual_ && comment.substr(0, 2) == "  " && tables_.back().is_virtual) {
      addSentence(tables_.back().text, comment);
    } else {
      addSentence(pending_, comment);
    }
  }

  std::vector<TableDoc> tables_;
  std::string pending_;
  bool in_table_ = false;
  bool virtual_ = false;
};

}  // namespace

std::vector<TableDoc> tableDocs() { return Parser().parse(store::kSchemaSql); }

}  // namespace pitwall
