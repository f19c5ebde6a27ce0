// The text that mxnet.profiler.dumps() returns: sums by name, no timeline. A row becomes one event as long as
// the row's total, laid end to end with the others of its section; its value is the count, and the whole row
// is kept as meta.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "db/import/input/text.h"
#include "db/import/mxnet/mxnet.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::import {
namespace {

struct Row {
  std::string name;
  std::int64_t count = 0;
  std::vector<std::string> numbers;  // as printed: [total,] min, max, avg
};

// The last words of the line are numbers (a count, then decimals); what is before them is the name.
bool parseRow(std::string_view line, std::size_t columns, Row& row) {
  row.numbers.clear();
  for (std::size_t i = 0; i < columns; ++i) {
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos) return false;
    const std::string_view word = line.substr(space + 1);
    if (!parseReal(word)) return false;
    row.numbers.insert(row.numbers.begin(), std::string(word));
    line = line.substr(0, space);
  }
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  const auto count = parseInteger(row.numbers.front());
  if (!count || *count < 0 || line.empty()) return false;
  row.count = *count;
  row.numbers.erase(row.numbers.begin());
  row.name = std::string(line);
  return true;
}

class TableReader {
 public:
  TableReader(Window& window, const ImportOptions& options, Builder& builder)
      : window_(window), longest_(static_cast<std::size_t>(options.limits.line_bytes)), builder_(builder) {}

  Status run() {
    for (;;) {
      const std::string_view view = window_.view();
      const std::size_t newline = view.find('\n');
      if (newline != std::string_view::npos) {
        line(view.substr(0, newline));
        window_.take(newline + 1);
      } else if (window_.atEnd()) {
        line(view);
        window_.take(view.size());
        break;
      } else {
        PITWALL_TRY(window_.more(longest_ * 64));
      }
    }
    finish();
    return {};
  }

 private:
  void line(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    if (text.substr(0, 18) == "Profile Statistics") {
      ++table_;
      twice_ = false;
      columns_ = 0;
    } else if (text.find("Note that counter items") != std::string_view::npos) {
      twice_ = true;  // before MXNet 1.6: the asynchronous duplicate of an operator is counted too
    } else if (text.substr(0, 5) == "=====") {
      section_ = previous_;
      columns_ = 0;
    } else if (text.substr(0, 5) == "Name " && text.find("Total Count") != std::string_view::npos) {
      columns_ = text.find("Time (ms)") != std::string_view::npos ? 5 : 4;
    } else if (text.substr(0, 4) == "----" || text.empty() || text.substr(0, 3) == "```") {
      if (text.empty()) columns_ = columns_ == 0 ? 0 : columns_;
    } else if (Row row; columns_ > 0 && parseRow(text, columns_, row)) {
      take(row);
    } else if (table_ > 0 && columns_ > 0) {
      columns_ = 0;  // the name of the next section, or text after the table
    }
    previous_ = std::string(text.substr(0, 256));
  }

  void take(Row row) {
    ++builder_.tally().record(fmt::format("rows {}", section_));
    const bool memory = section_ == "Device Storage" || section_ == "Pool Memory" || columns_ == 4;
    const bool is_operator = section_ == "operator" || section_ == "Custom Operator";
    const ProcessRef process = builder_.tracks().process(fmt::format("table {}", table_));
    builder_.tracks().nameProcess(process, fmt::format("mxnet, table {}", table_));
    builder_.meta(fmt::format("mxnet.table.{}.{}.{}", table_, section_, row.name),
                  fmt::format("count {}, {}", row.count, fmt::join(row.numbers, ", ")));
    if (memory) {
      // Min, max, avg in kB of 1000 bytes, the last three in either layout.
      const auto peak = parseScaled(row.numbers[row.numbers.size() - 2], 1000);
      if (!peak) return;
      constexpr std::string_view kMemory = "Memory: ";
      if (row.name.substr(0, kMemory.size()) == kMemory) row.name.erase(0, kMemory.size());
      const TrackRef counter =
          builder_.tracks().counter(process, fmt::format("memory live: {}", row.name), "bytes");
      builder_.sample(counter, 0, static_cast<double>(*peak));
      return;
    }
    if (section_ == "MXNET_C_API" && row.name.substr(0, 9) == "MXNet C A") {
      builder_.tally().notUnderstood("rows of counters: kept as meta only", row.name);
      return;
    }
    auto total = parseScaled(row.numbers.front(), 1'000'000);
    if (!total || *total < 0) {
      builder_.tally().dropped("rows without a total", row.name);
      return;
    }
    if (is_operator && twice_ && row.count % 2 == 0) {
      builder_.tally().repaired("operators that this version of MXNet counts twice: count and total halved",
                                row.name);
      row.count /= 2;
      *total /= 2;
    }
    const std::string track = fmt::format("table {}: {}", table_, section_);
    std::int64_t& cursor = cursors_[track];
    Event event;
    event.start_ns = cursor;
    event.dur_ns = *total;
    event.value = row.count;
    event.name = builder_.names().name(row.name);
    event.kind = MxNet::kindOf(mxNetRoleOf(section_), row.name);
    if (is_operator) event.op = builder_.names().facts(MxNet::describe(row.name));
    if (cursor < kLatestNs - *total) cursor += *total;
    builder_.add(builder_.tracks().lane(process, track), event);
  }

  void finish() {
    ImportedInput& input = builder_.tally().input();
    input.format = "MXNet profiler table (dumps)";
    input.clock = "none: sums only";
    builder_.meta("import.timeline", "sums only");
    builder_.meta(meta::kProducer, "MXNet profiler, aggregate table");
    builder_.tally().note(
        fmt::format("{}: a table of sums: one event represents a row (value = count), laid end to end; "
                    "there is no timeline",
                    input.path));
    if (!window_.source().damage().empty()) builder_.tally().damaged(window_.source().damage());
  }

  Window& window_;
  const std::size_t longest_;
  Builder& builder_;
  int table_ = 0;
  bool twice_ = false;
  std::size_t columns_ = 0;
  std::string section_;
  std::string previous_;
  std::unordered_map<std::string, std::int64_t> cursors_;
};

}  // namespace

Status readMxNetTable(Window& window, const ImportOptions& options, Builder& builder) {
  return TableReader(window, options, builder).run();
}

}  // namespace pitwall::import
