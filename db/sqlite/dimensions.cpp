#include "db/sqlite/dimensions.h"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>

#include "db/try.h"

namespace pitwall::store {

namespace {

Error damaged(const Connection& connection, std::string_view table, std::string_view what) {
  return {ErrorCode::corruptTrace,
          fmt::format("trace '{}' is damaged: table {}: {}; record again, or restore a copy",
                      connection.path(), table, what)};
}

// The value whose stored name is `text`.
template <class Enum>
std::optional<Enum> fromString(std::string_view text, std::initializer_list<Enum> values) {
  for (const Enum value : values) {
    if (text == toString(value)) return value;
  }
  return std::nullopt;
}

std::optional<Phase> phaseFrom(std::string_view text) {
  return fromString(text, {Phase::none, Phase::forward, Phase::backward, Phase::update, Phase::data});
}
std::optional<TrackKind> trackKindFrom(std::string_view text) {
  return fromString(text, {TrackKind::thread, TrackKind::stream, TrackKind::counter});
}
std::optional<SettingSource> sourceFrom(std::string_view text) {
  return fromString(text, {SettingSource::byDefault, SettingSource::environment, SettingSource::program});
}

// An id column: none for NULL and impossible values.
template <class IdType>
IdType idAt(const Statement& row, int column) {
  const std::int64_t id = row.integer(column);
  return IdType{id > 0 && id <= 0xffffffff ? static_cast<std::uint32_t>(id) : 0};
}

// Calls `read` for each row; it returns an error message, or nullptr.
template <class Read>
Status readTable(Connection& connection, std::string_view table, std::string_view sql, Read read) {
  Result<Statement> statement = connection.prepare(sql);
  if (!statement.has_value()) {
    const Error& error = statement.error();
    if (error.code == ErrorCode::io || error.code == ErrorCode::corruptTrace) return fail(error);
    return fail(damaged(connection, table, error.message));  // no such table or column
  }
  while (true) {
    const bool row = PITWALL_TRY(statement->step());
    if (!row) return {};
    if (const char* wrong = read(*statement); wrong != nullptr)
      return fail(damaged(connection, table, wrong));
  }
}

// A table whose ids must be 1, 2, 3, ...: `read` makes the row from columns 1 and up, nullopt when it cannot.
template <class Row, class Read>
Status readDense(Connection& connection, std::string_view table, std::string_view sql, std::vector<Row>& rows,
                 Read read) {
  return readTable(connection, table, sql, [&](const Statement& s) -> const char* {
    if (s.integer(0) != static_cast<std::int64_t>(rows.size() + 1)) return "its ids are not 1, 2, 3, ...";
    std::optional<Row> row = read(s);
    if (!row.has_value()) return "a row has an unknown word in it";
    rows.push_back(std::move(*row));
    return nullptr;
  });
}

Status loadThings(Connection& connection, Dimensions& into) {
  PITWALL_TRY(readDense(connection, "string", "SELECT id, text FROM string ORDER BY id", into.strings,
                        [](const Statement& s) { return std::optional(s.text(1)); }));
  PITWALL_TRY(readDense(connection, "process",
                        "SELECT id, pid, name, command_line, rank FROM process ORDER BY id", into.processes,
                        [](const Statement& s) {
                          return std::optional(ProcessInfo{.pid = s.integer(1),
                                                           .name = s.text(2),
                                                           .command_line = s.text(3),
                                                           .rank = static_cast<int>(s.integer(4))});
                        }));
  PITWALL_TRY(readDense(connection, "thread", "SELECT id, process_id, tid, name FROM thread ORDER BY id",
                        into.threads, [](const Statement& s) {
                          return std::optional(ThreadInfo{
                              .process = idAt<ProcessId>(s, 1), .tid = s.integer(2), .name = s.text(3)});
                        }));
  return readDense(connection, "device",
                   "SELECT id, kind, device_index, name, memory_bytes FROM device ORDER BY id", into.devices,
                   [](const Statement& s) {
                     return std::optional(DeviceInfo{.kind = s.text(1),
                                                     .index = static_cast<int>(s.integer(2)),
                                                     .name = s.text(3),
                                                     .memory_bytes = s.integer(4)});
                   });
}

Status loadTracks(Connection& connection, Dimensions& into) {
  return readDense(connection, "track",
                   "SELECT id, kind, process_id, thread_id, device_id, name, unit FROM track ORDER BY id",
                   into.tracks, [](const Statement& s) -> std::optional<TrackInfo> {
                     const std::optional<TrackKind> kind = trackKindFrom(s.text(1));
                     if (!kind.has_value()) return std::nullopt;
                     return TrackInfo{.kind = *kind,
                                      .process = idAt<ProcessId>(s, 2),
                                      .thread = idAt<ThreadId>(s, 3),
                                      .device = idAt<DeviceId>(s, 4),
                                      .name = s.text(5),
                                      .unit = s.text(6)};
                   });
}

Status loadFacts(Connection& connection, Dimensions& into) {
  return readDense(connection, "operator",
                   "SELECT id, name, layer, shapes, dtype, backend, implementation, phase, flop, bytes_read,"
                   " bytes_written FROM operator ORDER BY id",
                   into.facts, [](const Statement& s) -> std::optional<OperatorFacts> {
                     const std::optional<Phase> phase = phaseFrom(s.text(7));
                     if (!phase.has_value()) return std::nullopt;
                     return OperatorFacts{.name = s.text(1),
                                          .layer = s.text(2),
                                          .shapes = s.text(3),
                                          .dtype = s.text(4),
                                          .backend = s.text(5),
                                          .implementation = s.text(6),
                                          .phase = *phase,
                                          .flop = s.integer(8),
                                          .bytes_read = s.integer(9),
                                          .bytes_written = s.integer(10)};
                   });
}

Status loadKernels(Connection& connection, Dimensions& into) {
  return readDense(connection, "kernel",
                   "SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers_per_thread,"
                   " static_shared_bytes, dynamic_shared_bytes, local_bytes, theoretical_occupancy, limiter"
                   " FROM kernel ORDER BY id",
                   into.kernels, [](const Statement& s) {
                     const auto number = [&s](int column) {
                       return static_cast<std::int32_t>(s.integer(column));
                     };
                     return std::optional(KernelFacts{.grid = {number(1), number(2), number(3)},
                                                      .block = {number(4), number(5), number(6)},
                                                      .registers_per_thread = number(7),
                                                      .static_shared_bytes = s.integer(8),
                                                      .dynamic_shared_bytes = s.integer(9),
                                                      .local_bytes = s.integer(10),
                                                      .theoretical_occupancy = s.real(11),
                                                      .limiter = s.text(12)});
                   });
}

// Traces of earlier versions lack the tables.
Status loadStacks(Connection& connection, Dimensions& into) {
  const std::int64_t tables =
      PITWALL_TRY(connection.integer("SELECT count(*) FROM sqlite_master WHERE name IN ('frame', 'stack')"));
  if (tables < 2) return {};
  PITWALL_TRY(readDense(connection, "frame",
                        "SELECT id, function, file, line, language FROM frame ORDER BY id", into.frames,
                        [](const Statement& s) {
                          return std::optional(FrameInfo{.function = s.text(1),
                                                         .file = s.text(2),
                                                         .line = static_cast<std::int32_t>(s.integer(3)),
                                                         .language = s.text(4)});
                        }));
  return readDense(
      connection, "stack", "SELECT id, caller_id, frame_id FROM stack ORDER BY id", into.stacks,
      [](const Statement& s) {
        return std::optional(StackInfo{.caller = idAt<StackId>(s, 1), .frame = idAt<FrameId>(s, 2)});
      });
}

Status loadSettings(Connection& connection, Dimensions& into) {
  Status status = readTable(connection, "meta", "SELECT key, value FROM meta", [&](const Statement& s) {
    into.meta.insert_or_assign(s.text(0), s.text(1));
    return nullptr;
  });
  PITWALL_TRY(status);
  constexpr const char* kUnknownSource = "a source is neither default, environment nor program";
  status = readTable(connection, "setting", "SELECT name, value, source FROM setting ORDER BY name",
                     [&](const Statement& s) -> const char* {
                       const std::optional<SettingSource> source = sourceFrom(s.text(2));
                       if (!source.has_value()) return kUnknownSource;
                       into.settings.push_back({.name = s.text(0), .value = s.text(1), .source = *source});
                       return nullptr;
                     });
  PITWALL_TRY(status);
  return readTable(connection, "tunable",
                   "SELECT name, value, default_value, minimum, maximum, source FROM tunable ORDER BY name",
                   [&](const Statement& s) -> const char* {
                     const std::optional<SettingSource> source = sourceFrom(s.text(5));
                     if (!source.has_value()) return kUnknownSource;
                     into.tunables.push_back({.name = s.text(0),
                                              .value = s.integer(1),
                                              .default_value = s.integer(2),
                                              .minimum = s.integer(3),
                                              .maximum = s.integer(4),
                                              .source = *source});
                     return nullptr;
                   });
}

Status loadMarks(Connection& connection, Dimensions& into) {
  Status status = readTable(
      connection, "iteration_mark",
      "SELECT iteration_index, time_ns, items FROM iteration_mark ORDER BY time_ns, id",
      [&](const Statement& s) {
        into.iterations.push_back({.index = s.integer(0), .time_ns = s.integer(1), .items = s.integer(2)});
        return nullptr;
      });
  PITWALL_TRY(status);
  return readTable(connection, "loss", "SELECT track_id, from_ns, to_ns, count, reason FROM loss ORDER BY id",
                   [&](const Statement& s) {
                     into.losses.push_back({.track = idAt<TrackId>(s, 0),
                                            .from_ns = s.integer(1),
                                            .to_ns = s.integer(2),
                                            .count = s.integer(3),
                                            .reason = s.text(4)});
                     return nullptr;
                   });
}

// Readers use every id as an index.
Status checkReferences(const Connection& connection, const Dimensions& dimensions) {
  const auto exists = [](auto id, const auto& rows) { return id.value <= rows.size(); };
  for (const ThreadInfo& thread : dimensions.threads) {
    if (!exists(thread.process, dimensions.processes))
      return fail(damaged(connection, "thread", "a thread belongs to a process that does not exist"));
  }
  for (const TrackInfo& track : dimensions.tracks) {
    if (!exists(track.process, dimensions.processes) || !exists(track.thread, dimensions.threads) ||
        !exists(track.device, dimensions.devices))
      return fail(
          damaged(connection, "track", "a track belongs to a process, thread or device that does not exist"));
  }
  for (std::size_t i = 0; i < dimensions.stacks.size(); ++i) {
    const StackInfo& stack = dimensions.stacks[i];
    if (!stack.frame || !exists(stack.frame, dimensions.frames) || stack.caller.value > i)
      return fail(
          damaged(connection, "stack", "a stack has no frame, or a caller that is not an earlier one"));
  }
  for (const Loss& loss : dimensions.losses) {
    if (!exists(loss.track, dimensions.tracks))
      return fail(damaged(connection, "loss", "a loss belongs to a track that does not exist"));
  }
  return {};
}

}  // namespace

Result<Dimensions> loadDimensions(Connection& connection) {
  Dimensions into;
  for (const auto load :
       {loadThings, loadTracks, loadFacts, loadKernels, loadStacks, loadSettings, loadMarks}) {
    PITWALL_TRY(load(connection, into));
  }
  PITWALL_TRY(checkReferences(connection, into));
  return into;
}

}  // namespace pitwall::store
