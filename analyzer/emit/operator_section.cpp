#include "analyzer/emit/operator_section.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/emit/cells.h"

namespace pitwall::emit {
namespace {

constexpr std::size_t kShownOperators = 10;

std::string shortPhase(const std::string& phase) {
  if (phase == "forward") return "fwd";
  if (phase == "backward") return "bwd";
  if (phase == "update") return "upd";
  return "";
}

// The columns of operators that are known and therefore shown. Beside the device's time, how the host's varies leaves no
// room for names.
struct Known {
  bool nested = false, device = false, quantiles = false, flop = false, bytes = false, roofline = false;

  explicit Known(const Report& report) : device(report.operator_order == OperatorOrder::deviceTime) {
    for (const auto& row : report.operators) {
      nested |= row.self_ns != row.total_ns;
      quantiles |= row.p50_ns > 0;  // not of a trace of sums
      flop |= row.flop_per_second > 0;
      bytes |= row.bytes_per_second > 0;
      roofline |= row.roofline_share > 0;
    }
  }
};

// A row for the operators that are not shown and one for all, so that the columns add up. Total times of
// operators within each other do not.
void addSums(const Report& report, const Known& known, std::size_t shown, Table& table) {
  const auto& operators = report.operators;
  TimeNs all = 0;
  for (const auto& row : operators) all += row.orderedBy(report.operator_order);
  const auto line = [&](std::string title, std::size_t from) {
    std::int64_t count = 0;
    TimeNs total = 0, self = 0, device = 0;
    for (std::size_t i = from; i < operators.size(); ++i) {
      count += operators[i].count;
      total += operators[i].total_ns;
      self += operators[i].self_ns;
      device += operators[i].device_ns;
    }
    const auto time = [](TimeNs ns) { return showDuration(static_cast<double>(ns)); };
    const double part =
        all > 0 ? static_cast<double>(known.device ? device : self) / static_cast<double>(all) : 0;
    std::vector<std::string> texts{std::move(title), "", fmt::format("{}", count),
                                   known.nested ? std::string() : time(total)};
    if (known.nested) texts.push_back(time(self));
    if (known.device) texts.push_back(time(device));
    if (!known.device) texts.insert(texts.end(), known.quantiles ? 2 : 1, "");
    texts.push_back(showShare(part));
    for (const bool column : {known.flop, known.bytes, known.roofline}) {
      if (column) texts.emplace_back();
    }
    return texts;
  };
  table.rest = line(plural(static_cast<std::int64_t>(operators.size() - shown), "other", "others"), shown);
  table.footer = line("total", 0);
}

// The shapes of each that has the name of another one shown with it.
std::vector<std::string> shapesWhereNamesRepeat(const std::vector<OperatorRow>& operators) {
  const auto end =
      operators.begin() + static_cast<std::ptrdiff_t>(std::min(kShownOperators, operators.size()));
  std::vector<std::string> notes;
  for (auto row = operators.begin(); row != end; ++row) {
    const auto same = std::count_if(operators.begin(), end, [&](const OperatorRow& other) {
      return other.title == row->title && other.phase == row->phase;
    });
    notes.push_back(same > 1 ? row->shapes : "");
  }
  return notes;
}

std::string operatorHeading(const Known& known) {
  const char* order = known.device   ? "the device time that they launch"
                      : known.nested ? "the time that they take themselves"
                                     : "total time";
  return fmt::format("OPERATORS, by {}", order);
}

// What the table does not have: device work without an operator, and exchanges.
void writeNotAmongThem(const Report& report, bool shows_device, Emitter& emitter) {
  emitter.field("device_outside_operators_ns", "", jsonOnly(report.device_outside_operators_ns));
  if (shows_device && report.device_outside_operators_ns > 0) {
    emitter.paragraph(fmt::format(
        "{} of device work were launched outside of operators, or by calls that are not recorded.",
        showDuration(static_cast<double>(report.device_outside_operators_ns))));
  }
  if (report.store_exchanges == 0) return;
  emitter.field("store_exchanges", "", jsonOnly(report.store_exchanges));
  emitter.field("store_exchange_ns", "", jsonOnly(report.store_exchange_ns));
  emitter.paragraph(fmt::format(
      "Not among them: {} between processes, {} together. They take no thread's time; analysis_kvstore has "
      "them by key and rank.",
      plural(report.store_exchanges, "exchange", "exchanges"),
      showDuration(static_cast<double>(report.store_exchange_ns))));
}

}  // namespace

void writeOperatorSection(const Report& report, Emitter& emitter) {
  const auto& operators = report.operators;
  const Known known(report);
  const auto when = [](bool condition, const char* title) { return condition ? title : ""; };
  Table table{{{"", "operator", Align::left},
               {"name", ""},
               {"layer", ""},
               {"", " ", Align::left},
               {"phase", ""},
               {"shapes", ""},
               {"count", "count", Align::right},
               {"total_ns", "total", Align::right},
               {"self_ns", when(known.nested, "self"), Align::right},
               {"device_ns", when(known.device, "device"), Align::right},
               {"mean_ns", when(!known.quantiles && !known.device, "mean"), Align::right, true, true},
               {"p50_ns", when(known.quantiles && !known.device, "p50"), Align::right, true, true},
               {"p99_ns", when(known.quantiles && !known.device, "p99"), Align::right, true, true},
               {"", "share", Align::right},
               {"share", ""},
               {"flop_per_second", when(known.flop, "GFLOP/s"), Align::right, true, true},
               {"bytes_per_second", when(known.bytes, "GB/s"), Align::right, true, true},
               {"roof_share", when(known.roofline, "of roofline"), Align::right, true, true}}};
  table.text_rows = kShownOperators;
  table.gap = 1;
  TimeNs all = 0;
  for (const auto& row : operators) all += row.orderedBy(report.operator_order);
  const auto giga = [](double value) {
    return Cell{value, value <= 0 ? "-" : value < 0.05e9 ? "< 0.1" : fmt::format("{:.1f}", value / 1e9)};
  };
  for (const auto& row : operators) {
    const auto time = static_cast<double>(row.orderedBy(report.operator_order));
    const double part = all > 0 ? time / static_cast<double>(all) : 0;
    table.rows.push_back(
        {textOnly(row.title),
         text(row.name),
         text(row.layer),
         textOnly(shortPhase(row.phase)),
         text(row.phase),
         text(row.shapes),
         {row.count, fmt::format("{}", row.count)},
         duration(row.total_ns),
         duration(row.self_ns),
         duration(row.device_ns),
         duration(row.mean_ns),
         duration(row.p50_ns),
         duration(row.p99_ns),
         textOnly(showShare(part)),
         jsonOnly(row.share),
         giga(row.flop_per_second),
         giga(row.bytes_per_second),
         {row.roofline_share, row.roofline_share > 0 ? showShare(row.roofline_share) : "-"}});
  }
  table.notes = shapesWhereNamesRepeat(operators);
  const auto shown = std::min(kShownOperators, operators.size());
  addSums(report, known, shown, table);
  if (!operators.empty()) emitter.heading(operatorHeading(known));
  emitter.table("operators", "", table);
  writeNotAmongThem(report, known.device, emitter);
}

}  // namespace pitwall::emit
