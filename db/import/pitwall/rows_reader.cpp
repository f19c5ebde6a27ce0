// Reads a trace that was exported as ordinary rows. Columns are found by name, so that a later version's
// table is read as far as it is known.
#include <fmt/format.h>

#include <array>
#include <string>

#include "db/import/input/text.h"
#include "db/import/pitwall/row_import.h"
#include "db/import/readers.h"
#include "db/meta.h"
#include "db/sqlite/foreign.h"
#include "db/try.h"

namespace pitwall::import {

namespace {

using store::ForeignDatabase;
using store::ForeignRow;

template <class Enum>
Enum named(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == toString(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return Enum{};
}

class RowsReader {
 public:
  RowsReader(ForeignDatabase& database, const ImportOptions& options, Builder& builder)
      : database_(database), options_(options), builder_(builder), row_import_(builder) {}

  Status run() {
    builder_.tally().input().format = "rows of pitwall export";
    builder_.tally().input().clock = "nanoseconds since the trace's start";
    for (auto step : {&RowsReader::extent, &RowsReader::dimensions, &RowsReader::tracks, &RowsReader::facts,
                      &RowsReader::stacks, &RowsReader::settings, &RowsReader::marks, &RowsReader::events,
                      &RowsReader::others}) {
      Status status = (this->*step)();
      if (status.has_value()) continue;
      if (status.error().code != ErrorCode::corruptTrace) return status;
      builder_.tally().damaged(status.error().message);
      break;
    }
    row_import_.end();
    return {};
  }

 private:
  using Columns = std::initializer_list<std::string_view>;

  template <class Visit>
  Status each(std::string_view table, Columns columns, Visit visit) {
    std::int64_t rows = 0;
    Status status =
        database_.visit(table, {columns.begin(), columns.size()}, [&](const ForeignRow& row) -> Status {
          if (++rows % 8192 == 0 && options_.cancel != nullptr &&
              options_.cancel->load(std::memory_order_relaxed))
            return fail(ErrorCode::cancelled,
                        fmt::format("{}: import interrupted", builder_.tally().input().path));
          visit(row);
          return {};
        });
    builder_.tally().record(fmt::format("rows {}", table)) += rows;
    return status;
  }

  static std::string text(const ForeignRow& row, std::size_t column) {
    std::string clean;
    appendClean(row.text(column), clean);
    return clean;
  }

  // Data that the alignment needs before the first event.
  Status extent() {
    RowImport::Extent extent;
    bool any = false;
    const auto reach = [&](TimeNs first, TimeNs last) {
      extent.first_ns = any ? std::min(extent.first_ns, first) : first;
      extent.last_ns = any ? std::max(extent.last_ns, last) : last;
      any = true;
    };
    Status status = each("event", {"start_ns", "end_ns", "correlation"}, [&](const ForeignRow& row) {
      reach(row.integer(0), row.integer(1));
      if (row.integer(2) > 0)
        extent.greatest = std::max(extent.greatest, static_cast<CorrelationId>(row.integer(2)));
    });
    PITWALL_TRY(status);
    PITWALL_TRY(
        each("counter", {"time_ns"}, [&](const ForeignRow& row) { reach(row.integer(0), row.integer(0)); }));
    PITWALL_TRY(each("dependency", {"source", "target"}, [&](const ForeignRow& row) {
      for (const std::size_t column : {std::size_t{0}, std::size_t{1}}) {
        if (row.integer(column) > 0)
          extent.greatest = std::max(extent.greatest, static_cast<CorrelationId>(row.integer(column)));
      }
    }));
    builder_.tally().summary().records.clear();  // counted again when they are taken
    row_import_.begin(extent);
    return {};
  }

  Status dimensions() {
    Status status =
        each("process", {"id", "pid", "name", "command_line", "rank"}, [&](const ForeignRow& row) {
          ProcessInfo process{row.integer(1), text(row, 2), text(row, 3), static_cast<int>(row.integer(4))};
          row_import_.process(row.integer(0), std::move(process));
        });
    PITWALL_TRY(status);
    PITWALL_TRY(each("thread", {"id", "process_id", "tid", "name"}, [&](const ForeignRow& row) {
      row_import_.thread(row.integer(0), {{}, row.integer(2), text(row, 3)}, row.integer(1));
    }));
    return each("device", {"id", "kind", "device_index", "name", "memory_bytes"}, [&](const ForeignRow& row) {
      row_import_.device(row.integer(0),
                         {text(row, 1), static_cast<int>(row.integer(2)), text(row, 3), row.integer(4)});
    });
  }

  Status tracks() {
    return each("track", {"id", "kind", "process_id", "thread_id", "device_id", "name", "unit"},
                [&](const ForeignRow& row) {
                  TrackInfo track;
                  track.kind = named(row.text(1), TrackKind::counter);
                  track.name = text(row, 5);
                  track.unit = text(row, 6);
                  row_import_.track(row.integer(0), std::move(track),
                                    {row.integer(2), row.integer(3), row.integer(4)});
                });
  }

  Status facts() {
    Status status = each("operator",
                         {"id", "name", "layer", "shapes", "dtype", "backend", "implementation", "phase",
                          "flop", "bytes_read", "bytes_written"},
                         [&](const ForeignRow& row) {
                           OperatorFacts facts{text(row, 1), text(row, 2), text(row, 3),
                                               text(row, 4), text(row, 5), text(row, 6)};
                           facts.phase = named(row.text(7), Phase::data);
                           facts.flop = row.integer(8);
                           facts.bytes_read = row.integer(9);
                           facts.bytes_written = row.integer(10);
                           row_import_.operatorFacts(row.integer(0), facts);
                         });
    PITWALL_TRY(status);
    return each(
        "kernel",
        {"id", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers_per_thread",
         "static_shared_bytes", "dynamic_shared_bytes", "local_bytes", "theoretical_occupancy", "limiter"},
        [&](const ForeignRow& row) {
          const auto small = [&](std::size_t column) {
            return static_cast<std::int32_t>(row.integer(column));
          };
          KernelFacts facts;
          facts.grid = {small(1), small(2), small(3)};
          facts.block = {small(4), small(5), small(6)};
          facts.registers_per_thread = small(7);
          facts.static_shared_bytes = row.integer(8);
          facts.dynamic_shared_bytes = row.integer(9);
          facts.local_bytes = row.integer(10);
          facts.theoretical_occupancy = row.real(11);
          facts.limiter = text(row, 12);
          row_import_.kernelFacts(row.integer(0), facts);
        });
  }

  Status stacks() {
    PITWALL_TRY(each("frame", {"id", "function", "file", "line", "language"}, [&](const ForeignRow& row) {
      row_import_.frame(row.integer(0), {text(row, 1), text(row, 2),
                                         static_cast<std::int32_t>(row.integer(3)), text(row, 4)});
    }));
    return each("stack", {"id", "caller_id", "frame_id"}, [&](const ForeignRow& row) {
      row_import_.stack(row.integer(0), row.integer(1), row.integer(2));
    });
  }

  Status settings() {
    Status status = each("meta", {"key", "value"}, [&](const ForeignRow& row) {
      if (row.text(0) == meta::kTraceStartUnixNs) {
        if (const auto start = parseInteger(row.text(1)); start && *start > 0)
          builder_.clock().wallClock(*start);
      }
      row_import_.meta(row.text(0), row.text(1));
    });
    PITWALL_TRY(status);
    PITWALL_TRY(each("setting", {"name", "value", "source"}, [&](const ForeignRow& row) {
      row_import_.setting({text(row, 0), text(row, 1), named(row.text(2), SettingSource::program)});
    }));
    return each("tunable", {"name", "value", "default_value", "minimum", "maximum", "source"},
                [&](const ForeignRow& row) {
                  row_import_.tunable({text(row, 0), row.integer(1), row.integer(2), row.integer(3),
                                       row.integer(4), named(row.text(5), SettingSource::program)});
                });
  }

  Status marks() {
    PITWALL_TRY(each("iteration_mark", {"iteration_index", "time_ns", "items"}, [&](const ForeignRow& row) {
      row_import_.iteration({row.integer(0), row.integer(1), row.integer(2)});
    }));
    return each("loss", {"track_id", "from_ns", "to_ns", "count", "reason"}, [&](const ForeignRow& row) {
      row_import_.loss({{}, row.integer(1), row.integer(2), row.integer(3), text(row, 4)}, row.integer(0));
    });
  }

  Status events() {
    return each("event",
                {"track", "start_ns", "dur_ns", "pushed_ns", "ready_ns", "correlation", "value", "name",
                 "operator", "kernel", "args", "kind", "depth"},
                [&](const ForeignRow& row) {
                  Event event;
                  event.start_ns = row.integer(1);
                  event.dur_ns = row.integer(2);
                  event.pushed_ns = row.integer(3);
                  event.ready_ns = row.integer(4);
                  event.correlation = static_cast<CorrelationId>(row.integer(5));
                  event.value = row.integer(6);
                  event.kind = named(row.text(11), EventKind::communication);
                  event.depth = static_cast<std::uint16_t>(row.integer(12));
                  row_import_.event(
                      event, {row.text(7), row.text(10), row.integer(0), row.integer(8), row.integer(9)});
                });
  }

  Status others() {
    PITWALL_TRY(each("counter", {"track", "time_ns", "value"}, [&](const ForeignRow& row) {
      row_import_.sample(row.integer(0), row.integer(1), row.real(2));
    }));
    return each("dependency", {"source", "target", "kind"}, [&](const ForeignRow& row) {
      row_import_.dependency({static_cast<CorrelationId>(row.integer(0)),
                              static_cast<CorrelationId>(row.integer(1)),
                              named(row.text(2), DependencyKind::flow)});
    });
  }

  ForeignDatabase& database_;
  const ImportOptions& options_;
  Builder& builder_;
  RowImport row_import_;
};

}  // namespace

Status readRows(const std::string& path, const ImportOptions& options, Builder& builder) {
  auto database = PITWALL_TRY(ForeignDatabase::open(path));
  return RowsReader(*database, options, builder).run();
}

}  // namespace pitwall::import
