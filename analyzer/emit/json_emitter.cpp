#include "analyzer/emit/json_emitter.h"

#include <fmt/core.h>

#include <cmath>

#include "analyzer/emit/utf8.h"
#include "db/json_string.h"

namespace pitwall::emit {

void JsonEmitter::prefix(std::string_view key) {
  if (levels_.empty()) return;
  if (!levels_.back().is_empty) out_ += ',';
  levels_.back().is_empty = false;
  out_ += '\n';
  out_.append(levels_.size() * 2, ' ');
  if (!levels_.back().is_list) out_ += jsonString(key) + ": ";
}

void JsonEmitter::open(std::string_view key, char bracket, bool is_list) {
  prefix(key);
  out_ += bracket;
  levels_.push_back({is_list, true});
}

void JsonEmitter::close(char bracket) {
  const bool was_empty = levels_.back().is_empty;
  levels_.pop_back();
  if (!was_empty) {
    out_ += '\n';
    out_.append(levels_.size() * 2, ' ');
  }
  out_ += bracket;
}

void JsonEmitter::value(const Json& json) {
  if (const auto* boolean = std::get_if<bool>(&json)) {
    out_ += *boolean ? "true" : "false";
  } else if (const auto* integer = std::get_if<std::int64_t>(&json)) {
    out_ += fmt::format("{}", *integer);
  } else if (const auto* real = std::get_if<double>(&json)) {
    out_ += std::isfinite(*real) ? fmt::format("{}", *real) : "null";
  } else if (const auto* text = std::get_if<std::string>(&json)) {
    out_ += jsonString(*text);
  } else {
    out_ += "null";
  }
}

void JsonEmitter::beginObject(std::string_view key, std::string_view, Style) { open(key, '{', false); }
void JsonEmitter::endObject() { close('}'); }
void JsonEmitter::beginList(std::string_view key, std::string_view) { open(key, '[', true); }
void JsonEmitter::endList() { close(']'); }

void JsonEmitter::field(std::string_view key, std::string_view, const Cell& cell) {
  const bool in_list = !levels_.empty() && levels_.back().is_list;
  if (key.empty() && !in_list) return;
  prefix(key);
  value(cell.json);
}

void JsonEmitter::table(std::string_view key, std::string_view, const Table& table) {
  beginList(key, {});
  for (const auto& row : table.rows) {
    prefix({});
    out_ += '{';
    bool first = true;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (table.columns[c].key.empty()) continue;
      out_ += (first ? "" : ", ") + jsonString(table.columns[c].key) + ": ";
      value(row[c].json);
      first = false;
    }
    out_ += '}';
  }
  endList();
}

void JsonEmitter::code(std::string_view, std::string_view) {}
void JsonEmitter::heading(std::string_view) {}
void JsonEmitter::paragraph(std::string_view) {}

std::string JsonEmitter::take() && { return std::move(out_) + "\n"; }

}  // namespace pitwall::emit
