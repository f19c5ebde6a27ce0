// Prints docs/analysis_tables.md from the declarations; a test checks that the file is current.
#include <cstdio>
#include <string>

#include "analyzer/analysis/analysis_tables.h"

namespace pitwall::analysis {
namespace {

constexpr char kIntroduction[] =
    R"(Results of the analyses. Rules, `pitwall query` and users of the library read these tables with SQL; `pitwall query TRACE --schema` prints
this list on a terminal. The tables are temporary: a query that names one computes them, and the trace does not change. A table without rows
means that the trace has nothing of the kind. The [glossary](glossary.md) defines the terms.

**Units.** Times are in ns; where a meaning does not say otherwise, a duration. `0..1` is a share, `0 or 1` no or yes. `count`, `id` and
`number` have no unit. Columns of type `any` hold texts where the unit is `text`, else integers or real numbers.

**Time windows.** A share divides the time counted within a time window by the length of the same window. The report's window is the steady
iterations; of a trace with device work, the devices' windows; where nothing repeats, the whole trace. `analysis_breakdown`,
`analysis_operator`, `analysis_device`, `analysis_kernel`, `analysis_data`, `analysis_data_range` and `analysis_data_work` cover it. The sums of
`analysis_name` and `analysis_call` cover the whole trace, which lasts `recorded_ns` of `analysis_summary`.
)";

std::string escaped(const char* text) {
  std::string result;
  for (const char* c = text; *c != '\0'; ++c) result.append(*c == '|' ? "\\|" : std::string(1, *c));
  return result;
}

void print(const TableDeclaration& table) {
  std::printf("\n## `%s`\n\n%s\n\n| column | type | unit | meaning |\n|---|---|---|---|\n", table.name,
              table.rows);
  for (const Column& column : table.columns) {
    std::printf("| `%s` | %s | %s | %s |\n", column.name, toString(column.type), column.unit,
                escaped(column.meaning).c_str());
  }
}

void printAll() {
  std::printf(
      "# Tables of the analyses\n\n<!-- Generated from the declarations in analyzer/analysis/: build the "
      "target "
      "analysis_tables_doc_update. -->\n\n%s\n",
      static_cast<const char*>(kIntroduction));
  for (const TableDeclaration* table : analysisTables())
    std::printf("- [`%s`](#%s)\n", table->name, table->name);
  for (const TableDeclaration* table : analysisTables()) print(*table);
}

}  // namespace
}  // namespace pitwall::analysis

int main() {
  pitwall::analysis::printAll();
  return 0;
}
