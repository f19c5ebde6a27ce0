#include "db/sqlite/batch_writer.h"

#include <utility>

#include "db/meta.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

// Runs the statement once per row; `bind` binds a row's values. Ids are given by SQLite: 1, 2, ...
template <class Row, class Bind>
Status insertRows(Statement& statement, const std::vector<Row>& rows, Bind bind) {
  for (const Row& row : rows) {
    bind(statement, row);
    PITWALL_TRY(statement.run());
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<BatchWriter>> BatchWriter::create(Connection connection, std::size_t chunk_rows) {
  std::unique_ptr<BatchWriter> writer(new BatchWriter(std::move(connection)));
  // A commit in WAL mode with synchronous=NORMAL does not wait for the disk: it survives a kill of the
  // process.
  PITWALL_TRY(writer->connection_.execute(
      "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=16000; PRAGMA cache_size=-8192;"));
  ChunkWriter chunks = PITWALL_TRY(ChunkWriter::create(writer->connection_, chunk_rows));
  writer->chunks_ = std::make_unique<ChunkWriter>(std::move(chunks));
  PITWALL_TRY(writer->prepareAll());
  return writer;
}

Status BatchWriter::prepareAll() {
  struct Prepare {
    const char* sql;
    Statement& into;
  };
  const Prepare all[] = {
      {"BEGIN IMMEDIATE", begin_},
      {"COMMIT", commit_},
      {"ROLLBACK", rollback_},
      {"INSERT INTO string(text) VALUES (?1)", string_},
      {"INSERT INTO process(pid, name, command_line, rank) VALUES (?1, ?2, ?3, ?4)", process_},
      {"INSERT INTO thread(process_id, tid, name) VALUES (?1, ?2, ?3)", thread_},
      {"INSERT INTO device(kind, device_index, name, memory_bytes) VALUES (?1, ?2, ?3, ?4)", device_},
      {"INSERT INTO track(kind, process_id, thread_id, device_id, name, unit) VALUES (?1, ?2, ?3, ?4, ?5, "
       "?6)",
       track_},
      {"INSERT INTO operator(name, layer, shapes, dtype, backend, implementation, phase, flop, bytes_read,"
       " bytes_written) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
       facts_},
      {"INSERT INTO kernel(grid_x, grid_y, grid_z, block_x, block_y, block_z, registers_per_thread,"
       " static_shared_bytes, dynamic_shared_bytes, local_bytes, theoretical_occupancy, limiter)"
       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
       kernels_},
      {"INSERT OR REPLACE INTO meta(key, value) VALUES (?1, ?2)", meta_},
      {"INSERT OR REPLACE INTO setting(name, value, source) VALUES (?1, ?2, ?3)", setting_},
      {"INSERT OR REPLACE INTO tunable(name, value, default_value, minimum, maximum, source)"
       " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
       tunable_},
      {"INSERT INTO iteration_mark(iteration_index, time_ns, items) VALUES (?1, ?2, ?3)", iteration_},
      {"INSERT INTO loss(track_id, from_ns, to_ns, count, reason) VALUES (?1, ?2, ?3, ?4, ?5)", loss_},
  };
  for (const Prepare& p : all) {
    p.into = PITWALL_TRY(connection_.prepare(p.sql));
  }
  return {};
}

Status BatchWriter::write(Batch& batch) {
  PITWALL_TRY(begin_.run());
  Status status = writeRows(batch);
  if (status.has_value()) status = commit_.run();
  // SQLite may have rolled back already, as it does on a full disk; then this does nothing.
  if (!status.has_value()) (void)rollback_.run();
  return status;
}

Status BatchWriter::writeRows(Batch& batch) {
  rows_.strings += batch.strings.size();
  rows_.facts += batch.facts.size();
  rows_.kernels += batch.kernels.size();
  PITWALL_TRY(writeDimensions(batch));
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const TrackId track{static_cast<std::uint32_t>(i + 1)};
    PITWALL_TRY(chunks_->events(track, batch.events[i], rows_));
  }
  for (std::size_t i = 0; i < batch.counters.size(); ++i) {
    const TrackId track{static_cast<std::uint32_t>(i + 1)};
    PITWALL_TRY(chunks_->counters(track, batch.counters[i]));
  }
  return chunks_->dependencies(batch.dependencies);
}

Status BatchWriter::writeDimensions(const Batch& batch) {
  Status status = insertRows(string_, batch.strings, [](Statement& s, const std::string& text) {
    s.bind(1, std::string_view(text));
  });
  if (status.has_value()) status = writeEntities(batch);
  if (status.has_value()) status = writeFacts(batch);
  if (status.has_value()) status = writeStacks(batch);
  if (status.has_value()) status = writeSettings(batch);
  if (status.has_value()) status = writeMarks(batch);
  return status;
}

Status BatchWriter::writeEntities(const Batch& batch) {
  Status status = insertRows(process_, batch.processes, [](Statement& s, const ProcessInfo& p) {
    s.bind(1, p.pid).bind(2, std::string_view(p.name)).bind(3, std::string_view(p.command_line));
    s.bind(4, std::int64_t{p.rank});
  });
  PITWALL_TRY(status);
  PITWALL_TRY(insertRows(thread_, batch.threads, [](Statement& s, const ThreadInfo& t) {
    s.bindId(1, t.process.value).bind(2, t.tid).bind(3, std::string_view(t.name));
  }));
  status = insertRows(device_, batch.devices, [](Statement& s, const DeviceInfo& d) {
    s.bind(1, std::string_view(d.kind)).bind(2, std::int64_t{d.index}).bind(3, std::string_view(d.name));
    s.bind(4, d.memory_bytes);
  });
  PITWALL_TRY(status);
  return insertRows(track_, batch.tracks, [](Statement& s, const TrackInfo& t) {
    s.bind(1, std::string_view(toString(t.kind))).bindId(2, t.process.value).bindId(3, t.thread.value);
    s.bindId(4, t.device.value).bind(5, std::string_view(t.name)).bind(6, std::string_view(t.unit));
  });
}

Status BatchWriter::writeFacts(const Batch& batch) {
  Status status = insertRows(kernels_, batch.kernels, [](Statement& s, const KernelFacts& k) {
    for (int i = 0; i < 3; ++i) {
      s.bind(1 + i, std::int64_t{k.grid[static_cast<std::size_t>(i)]});
      s.bind(4 + i, std::int64_t{k.block[static_cast<std::size_t>(i)]});
    }
    s.bind(7, std::int64_t{k.registers_per_thread}).bind(8, k.static_shared_bytes);
    s.bind(9, k.dynamic_shared_bytes).bind(10, k.local_bytes).bind(11, k.theoretical_occupancy);
    s.bind(12, std::string_view(k.limiter));
  });
  PITWALL_TRY(status);
  return insertRows(facts_, batch.facts, [](Statement& s, const OperatorFacts& f) {
    s.bind(1, std::string_view(f.name))
        .bind(2, std::string_view(f.layer))
        .bind(3, std::string_view(f.shapes));
    s.bind(4, std::string_view(f.dtype)).bind(5, std::string_view(f.backend));
    s.bind(6, std::string_view(f.implementation)).bind(7, std::string_view(toString(f.phase)));
    s.bind(8, f.flop).bind(9, f.bytes_read).bind(10, f.bytes_written);
  });
}

// Prepared when needed: traces that were left incomplete by an earlier version lack the tables.
Status BatchWriter::writeStacks(const Batch& batch) {
  if (batch.frames.empty() && batch.stacks.empty()) return {};
  if (frame_.handle() == nullptr) {
    frame_ = PITWALL_TRY(
        connection_.prepare("INSERT INTO frame(function, file, line, language) VALUES (?1, ?2, ?3, ?4)"));
    stack_ = PITWALL_TRY(connection_.prepare("INSERT INTO stack(caller_id, frame_id) VALUES (?1, ?2)"));
  }
  PITWALL_TRY(insertRows(frame_, batch.frames, [](Statement& s, const FrameInfo& f) {
    s.bind(1, std::string_view(f.function)).bind(2, std::string_view(f.file));
    s.bind(3, std::int64_t{f.line}).bind(4, std::string_view(f.language));
  }));
  return insertRows(stack_, batch.stacks, [](Statement& s, const StackInfo& t) {
    s.bindId(1, t.caller.value).bind(2, std::int64_t{t.frame.value});
  });
}

Status BatchWriter::writeSettings(const Batch& batch) {
  PITWALL_TRY(insertRows(meta_, batch.meta, [](Statement& s, const std::pair<std::string, std::string>& m) {
    s.bind(1, std::string_view(m.first)).bind(2, std::string_view(m.second));
  }));
  Status status = insertRows(setting_, batch.settings, [](Statement& s, const SettingInEffect& e) {
    s.bind(1, std::string_view(e.name)).bind(2, std::string_view(e.value));
    s.bind(3, std::string_view(toString(e.source)));
  });
  PITWALL_TRY(status);
  return insertRows(tunable_, batch.tunables, [](Statement& s, const TunableInEffect& t) {
    s.bind(1, std::string_view(t.name)).bind(2, t.value).bind(3, t.default_value).bind(4, t.minimum);
    s.bind(5, t.maximum).bind(6, std::string_view(toString(t.source)));
  });
}

Status BatchWriter::writeMarks(const Batch& batch) {
  PITWALL_TRY(insertRows(iteration_, batch.iterations, [](Statement& s, const IterationMark& m) {
    s.bind(1, m.index).bind(2, m.time_ns).bind(3, m.items);
  }));
  return insertRows(loss_, batch.losses, [](Statement& s, const Loss& l) {
    s.bindId(1, l.track.value).bind(2, l.from_ns).bind(3, l.to_ns).bind(4, l.count);
    s.bind(5, std::string_view(l.reason));
  });
}

Status BatchWriter::finish() {
  Batch last;
  last.meta.emplace_back(meta::kComplete, "1");
  PITWALL_TRY(write(last));
  PITWALL_TRY(connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  // Fails as busy while the file is being read; nothing is lost.
  (void)connection_.execute("PRAGMA journal_mode=DELETE");
  return {};
}

}  // namespace pitwall::store
