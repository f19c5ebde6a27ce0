#include "analyzer/cli/query_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/open_trace.h"
#include "analyzer/cli/row_printer.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/emit/text_emitter.h"
#include "db/schema_docs.h"

namespace pitwall::cli {
namespace {

constexpr char kAnalysisPrefix[] = "analysis_";

void printAnalysisTables(emit::TextEmitter& emitter) {
  emitter.heading("RESULTS OF THE ANALYSES, computed when a query names one");
  for (const analysis::TableDeclaration* table : analysis::analysisTables()) {
    emitter.beginObject("", table->name, emit::Style::heading);
    emitter.paragraph(table->rows);
    std::size_t name = 0, unit = 0;
    for (const analysis::Column& column : table->columns) {
      name = std::max(name, std::strlen(column.name));
      unit = std::max(unit, std::strlen(column.unit));
    }
    for (const analysis::Column& column : table->columns) {
      emitter.field(
          "", fmt::format("{:{}} {:7} {:{}}", column.name, name, toString(column.type), column.unit, unit),
          {{}, column.meaning});
    }
  }
}

void printStoredTables(emit::TextEmitter& emitter) {
  emitter.heading("TABLES");
  for (const TableDoc& table : tableDocs()) {
    if (table.is_virtual || table.is_chunk) continue;
    emitter.beginObject("", table.name, emit::Style::heading);
    emitter.paragraph(table.text);
    emit::Table columns{{{"name", "column"}, {"type", "type"}, {"text", "meaning"}}};
    std::size_t widest = 0;
    for (const ColumnDoc& column : table.columns) widest = std::max(widest, column.name.size());
    for (const ColumnDoc& column : table.columns) {
      emitter.field("", fmt::format("{:{}} {:7}", column.name, widest, column.type), {{}, column.text});
    }
  }
}

void printVirtualTables(emit::TextEmitter& emitter) {
  emitter.heading("TABLES OVER THE PACKED EVENTS, AND FUNCTIONS");
  for (const TableDoc& table : tableDocs()) {
    if (!table.is_virtual) continue;
    emitter.beginObject("", table.name, emit::Style::heading);
    emitter.paragraph(table.text);
  }
}

int printSchema() {
  emit::TextEmitter emitter(
      {.width = static_cast<int>(std::max<std::size_t>(40, terminalWidth())), .color = colorWanted()});
  printVirtualTables(emitter);
  printStoredTables(emitter);
  printAnalysisTables(emitter);
  const std::string text = std::move(emitter).take();
  std::fwrite(text.data() + 1, 1, text.size() - 1, stdout);
  return kDone;
}

int reportUnreadable(const Error& error) {
  const bool unreadable = error.code == ErrorCode::corruptTrace || error.code == ErrorCode::io;
  const ExitCode otherwise = error.code == ErrorCode::internal ? kInternal : kUsage;
  return reportError(error.message, unreadable ? kUnreadableTrace : otherwise);
}

}  // namespace

CLI::App* addQuery(CLI::App& app, QueryArguments& arguments) {
  auto* command = app.add_subcommand("query", "Query a trace with SQL; the trace is not changed");
  command
      ->add_option("trace", arguments.trace,
                   "Trace file, one of another tool, or a folder of a job's traces; - for standard input")
      ->required()
      ->type_name("TRACE");
  command->add_option("sql", arguments.sql, "One or more SELECTs; - reads them from standard input")
      ->type_name("SQL");
  command
      ->add_option("--format", arguments.format,
                   "text, csv, tsv or json (default: text on a terminal, else tsv)")
      ->check(CLI::IsMember({"auto", "text", "csv", "tsv", "json"}));
  command->add_flag("--schema", arguments.schema,
                    "Print the tables, columns and functions with their meaning");
  return command;
}

int queryTrace(const QueryArguments& arguments) {
  if (arguments.schema == !arguments.sql.empty())
    return reportError("query: give either an SQL statement or --schema", kUsage);
  if (arguments.trace == "-" && arguments.sql == "-")
    return reportError("query: standard input is either the trace or the SQL statement, not both", kUsage);
  auto opened = openTrace(arguments.trace);
  if (!opened.has_value()) return reportTraceError(opened.error());
  Trace& trace = *opened->trace;
  if (arguments.schema) return printSchema();
  std::string sql = arguments.sql;
  if (sql == "-") {
    sql.clear();
    for (int c = std::getchar(); c != EOF; c = std::getchar()) sql += static_cast<char>(c);
  }
  if (sql.find(kAnalysisPrefix) != std::string::npos) {
    if (auto report = analyzeTrace(trace); !report.has_value()) return reportUnreadable(report.error());
  }
  const bool text = arguments.format == "auto" && outputIsTerminal();
  const std::string format = text ? "text" : arguments.format == "auto" ? "tsv" : arguments.format;
  const auto printer = makeRowPrinter(format, outputIsTerminal() ? terminalWidth() : 0);
  Status status = trace.visit(sql, {}, *printer);
  if (!printer->finish()) return flushOutput();
  return status.has_value() ? static_cast<int>(kDone) : reportUnreadable(status.error());
}

}  // namespace pitwall::cli
