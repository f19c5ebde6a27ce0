// One table as CSV (RFC 4180): a header, one line per row, texts quoted where needed, NULL empty.
#include <fmt/format.h>

#include "db/export/append_text.h"
#include "db/export/formats.h"
#include "db/export/output_file.h"
#include "db/schema_docs.h"
#include "db/sqlite/sql_name.h"
#include "db/try.h"

namespace pitwall::exporting {

namespace {

void appendField(fmt::memory_buffer& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out.append(text.data(), text.data() + text.size());
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

void appendValue(fmt::memory_buffer& out, const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    appendText(out, "{}", *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    appendText(out, "{}", *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    appendField(out, *text);
  }
}

class Lines final : public SqlVisitor {
 public:
  Lines(OutputFile& out, Pace& pace) : out_(out), pace_(pace) {}
  void columns(std::span<const std::string> names) override {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) out_.append(",");
      appendField(out_.buffer(), names[i]);
    }
    out_.append("\r\n");
  }
  bool row(std::span<const SqlValue> values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_.append(",");
      appendValue(out_.buffer(), values[i]);
    }
    out_.append("\r\n");
    status = out_.flush();
    if (status.has_value() && ++rows % 8192 == 0) status = pace_.advance(8192);
    return status.has_value();
  }
  Status status;
  std::int64_t rows = 0;

 private:
  OutputFile& out_;
  Pace& pace_;
};

// All documented tables except chunks, whose BLOBs are unreadable, and functions that need arguments.
Status checkTable(const std::string& table) {
  std::string names;
  for (const TableDoc& known : tableDocs()) {
    const std::string name = known.name.substr(0, known.name.find('('));
    if (known.is_chunk || name == "event_overlap") continue;
    if (name == table) return {};
    names += (names.empty() ? "" : ", ") + name;
  }
  return fail(ErrorCode::invalidInput,
              table.empty()
                  ? fmt::format("csv is written of one table: name it with --table; there are {}", names)
                  : fmt::format("there is no table '{}'; there are {}", table, names));
}

}  // namespace

Result<ExportSummary> writeCsv(Trace& trace, const std::string& output, const ExportOptions& options) {
  if (options.range || options.rank) {
    return fail(ErrorCode::invalidInput,
                "csv has a whole table: export the range or rank as a trace first (--format pitwall), or use "
                "'pitwall query' with WHERE and --format csv");
  }
  PITWALL_TRY(checkTable(options.table));
  const std::string from = store::sqlName(options.table);
  const auto counted = PITWALL_TRY(trace.query("SELECT count(*) FROM " + from));
  Pace pace(options, std::get<std::int64_t>(counted.rows.at(0).at(0)));
  auto out = PITWALL_TRY(OutputFile::create(output));
  Lines lines(*out, pace);
  PITWALL_TRY(trace.visit("SELECT * FROM " + from, {}, lines));
  PITWALL_TRY(lines.status);
  PITWALL_TRY(out->finish());
  ExportSummary summary;
  summary.rows = lines.rows;
  return summary;
}

}  // namespace pitwall::exporting
