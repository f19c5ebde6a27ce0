// What a table of the analyses contains. The tables themselves, docs/analysis_tables.md and
// `pitwall query TRACE --schema` are made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pitwall::analysis {

enum class ColumnType : std::uint8_t { integer, real, text, any };
const char* toString(ColumnType type);  // "INTEGER", "REAL", "TEXT", "any"

inline constexpr ColumnType kInteger = ColumnType::integer, kReal = ColumnType::real,
                            kText = ColumnType::text, kAny = ColumnType::any;

struct Column {
  const char* name;
  ColumnType type;
  // "ns", "0..1" (a share), ...; of numbers without a unit "count", "id", "number" or "0 or 1" (no, yes); of
  // texts "".
  const char* unit;
  const char* meaning;  // also says when the value is null
};

struct TableDeclaration {
  const char* name;
  const char* rows;  // a sentence: what a row is, and of which time
  std::span<const Column> columns;
};

// As CREATE TABLE takes them: "name TEXT, total_ns INTEGER".
std::string columnsInSql(const TableDeclaration& table);

}  // namespace pitwall::analysis
