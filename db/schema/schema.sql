-- The trace file: one SQLite database, NAME.pitwall. application_id 1349088375 ("Pitw"), user_version 1.
--
-- Two layers. Dimensions are ordinary rows, readable with plain sqlite3. Events, dependencies and counter samples are
-- column chunks: rows of event_chunk, dependency_chunk and counter_chunk hold some thousands of them each, one BLOB per
-- column, beside a summary. SQL reads them through virtual tables and table-valued functions of `pitwall query` and the
-- library (end of this file).
--
-- Times are integers, ns since the trace's start; meta key 'trace.start_unix_ns' places that start in wall-clock
-- time. Sizes are bytes. Ids are dense, start at 1 in the order of creation, and NULL means none.
--
-- A column BLOB: u8 format, i64 base, u32 check, then a body, all little-endian; it has as many values as the chunk's
-- count says, all modulo 2^64. The low nibble of format gives the layout of the body: 0: nothing, every value is base;
-- 12, 13, 14, 15: value i is base plus unsigned number i of 1, 2, 4 or 8 bytes (1, 2, 4, 8: the same with an older
-- check); 9: numbers are packed in bits, with patches for the large ones (db/sqlite/bit_packing.h), value i is base
-- plus number i; 10: i64 least_step, then packed numbers: value 0 is base, each later one the value before plus
-- least_step plus its number; 11: u8 width, then plain numbers of that width compressed by zstd. High nibble 0: signed
-- integers; 1: real numbers that are whole, stored as integers; 2: the bits of IEEE doubles. check is a hash over
-- format, base and body (db/sqlite/column_codec.cpp).

-- Facts of host, process and libraries, as text; the keys are listed in db/meta.h.
CREATE TABLE meta(
  key TEXT PRIMARY KEY NOT NULL,  -- name of the fact, as in db/meta.h: 'host.cpu_model'; no unit
  value TEXT NOT NULL             -- the value as text, in the unit that db/meta.h gives for the key
) STRICT, WITHOUT ROWID;

-- Every distinct event name and text of arguments, once.
CREATE TABLE string(
  id INTEGER PRIMARY KEY,  -- number that event chunks use for the text; 0 in a chunk means none
  text TEXT NOT NULL       -- the text, UTF-8
) STRICT;

-- A process that was recorded.
CREATE TABLE process(
  id INTEGER PRIMARY KEY,      -- process number in this trace
  pid INTEGER NOT NULL,        -- the operating system's process id
  name TEXT NOT NULL,          -- base name of the executable
  command_line TEXT NOT NULL,  -- arguments joined by blanks
  rank INTEGER NOT NULL        -- rank in a distributed job, from 0; 0 when alone
) STRICT;

-- A thread of a recorded process.
CREATE TABLE thread(
  id INTEGER PRIMARY KEY,                  -- thread number in this trace
  process_id INTEGER REFERENCES process,   -- process it belongs to
  tid INTEGER NOT NULL,                    -- the operating system's thread id
  name TEXT NOT NULL                       -- the program's name for it: 'main', 'cpu worker 0'
) STRICT;

-- A device that work ran on.
CREATE TABLE device(
  id INTEGER PRIMARY KEY,         -- device number in this trace
  kind TEXT NOT NULL,             -- 'cpu' or 'gpu'
  device_index INTEGER NOT NULL,  -- number among devices of its kind, from 0
  name TEXT NOT NULL,             -- marketing name
  memory_bytes INTEGER NOT NULL   -- memory of the device, bytes; 0 when unknown
) STRICT;

-- A row of the timeline: a thread, a device stream or a counter.
CREATE TABLE track(
  id INTEGER PRIMARY KEY,                 -- track number in this trace
  kind TEXT NOT NULL,                     -- 'thread', 'stream' or 'counter'
  process_id INTEGER REFERENCES process,  -- process it belongs to
  thread_id INTEGER REFERENCES thread,    -- thread, for kind 'thread'; NULL = asynchronous operators of a device, ranges across threads
  device_id INTEGER REFERENCES device,    -- device, for kind 'stream'; of a worker thread or an asynchronous track the device of its operators
  name TEXT NOT NULL,                     -- name to show; of a counter what it counts: 'memory live: weights'
  unit TEXT NOT NULL                      -- unit of a counter's values: 'bytes', 'items'; empty for other kinds
) STRICT;

-- Facts of operators, known without running them; one row per distinct combination, shared by all executions.
CREATE TABLE operator(
  id INTEGER PRIMARY KEY,         -- facts number; column operator of the virtual table event
  name TEXT NOT NULL,             -- operator type as the library spells it: 'Convolution'
  layer TEXT NOT NULL,            -- layer name in the network: 'conv1'; may be empty
  shapes TEXT NOT NULL,           -- operand shapes, in elements: '64x1x28x28,20x1x5x5->64x20x24x24'
  dtype TEXT NOT NULL,            -- element type: 'float32'
  backend TEXT NOT NULL,          -- who computes: 'onednn', 'reference', 'null'
  implementation TEXT NOT NULL,   -- what the backend chose: 'jit:avx512_core'; may be empty
  phase TEXT NOT NULL,            -- part of the training step: 'none', 'forward', 'backward', 'update', 'data'
  flop INTEGER NOT NULL,          -- floating-point operations of one execution, multiply-add = 2; 0 = none or unknown
  bytes_read INTEGER NOT NULL,    -- operands read by one execution, each once, bytes
  bytes_written INTEGER NOT NULL  -- operands written by one execution, each once, bytes
) STRICT;

-- How kernels were launched and what they need; one row per distinct combination, shared by all launches.
CREATE TABLE kernel(
  id INTEGER PRIMARY KEY,                 -- facts number; column kernel of the virtual table event
  grid_x INTEGER NOT NULL,                -- blocks in x; 0 when unknown, as in the next five
  grid_y INTEGER NOT NULL,                -- blocks in y
  grid_z INTEGER NOT NULL,                -- blocks in z
  block_x INTEGER NOT NULL,               -- threads of a block in x
  block_y INTEGER NOT NULL,               -- threads of a block in y
  block_z INTEGER NOT NULL,               -- threads of a block in z
  registers_per_thread INTEGER NOT NULL,  -- registers that one thread uses; 0 when unknown
  static_shared_bytes INTEGER NOT NULL,   -- shared memory of a block fixed when compiled, bytes
  dynamic_shared_bytes INTEGER NOT NULL,  -- shared memory of a block requested at launch, bytes
  local_bytes INTEGER NOT NULL,           -- local memory of a thread, bytes
  theoretical_occupancy REAL NOT NULL,    -- share of a multiprocessor's warps that fit at once, 0..1; 0 when unknown
  limiter TEXT NOT NULL                   -- what limits that share: 'registers'; empty when unknown or nothing
) STRICT;

-- Functions on sampled stacks, at the line that they execute; one row per distinct combination.
CREATE TABLE frame(
  id INTEGER PRIMARY KEY,   -- frame number in this trace
  function TEXT NOT NULL,   -- name with its classes: 'Trainer.step'; of a state what the thread does: 'waiting: lock'
  file TEXT NOT NULL,       -- source file; of native code its library or program; may be empty
  line INTEGER NOT NULL,    -- line within the file, from 1; 0 when unknown
  language TEXT NOT NULL    -- 'python' or 'native'; 'state': no function but what the thread does, always innermost
) STRICT;

-- Sampled stacks: each is a frame and the stack that called it. Counters with the unit 'stack' refer to them: the value is
-- stack.id of what the thread does from the sample's time to the next, 0 when unknown.
CREATE TABLE stack(
  id INTEGER PRIMARY KEY,                   -- stack number in this trace
  caller_id INTEGER REFERENCES stack,       -- stack without its innermost frame; always a lower number; NULL = none
  frame_id INTEGER NOT NULL REFERENCES frame  -- innermost frame
) STRICT;

-- Settings as the recorded program used them.
CREATE TABLE setting(
  name TEXT PRIMARY KEY NOT NULL,  -- the variable, as its owner spells it: 'OMP_NUM_THREADS'
  value TEXT NOT NULL,             -- value in effect as text, in the unit of the catalogue (`pitwall env NAME`)
  source TEXT NOT NULL             -- who decided: 'default', 'environment' or 'program'
) STRICT, WITHOUT ROWID;

-- Numbers that the program chooses and has declared; PITWALL_TUNE_name=value sets one.
CREATE TABLE tunable(
  name TEXT PRIMARY KEY NOT NULL,  -- the program's name for it: 'batch_size'
  value INTEGER NOT NULL,          -- value in effect, in the program's own unit
  default_value INTEGER NOT NULL,  -- value in the program's source, same unit
  minimum INTEGER NOT NULL,        -- least allowed value, same unit
  maximum INTEGER NOT NULL,        -- greatest allowed value, same unit
  source TEXT NOT NULL             -- who decided: 'default', 'environment' or 'program'
) STRICT, WITHOUT ROWID;

-- Boundaries of iterations: iteration i is between the marks with iteration_index i and i + 1.
CREATE TABLE iteration_mark(
  id INTEGER PRIMARY KEY,            -- order of arrival
  iteration_index INTEGER NOT NULL,  -- number of the iteration that begins here
  time_ns INTEGER NOT NULL,          -- when, ns since the trace's start
  items INTEGER NOT NULL             -- images or samples of that iteration; 0 when unknown
) STRICT;

-- Data that should be in the trace and is missing.
CREATE TABLE loss(
  id INTEGER PRIMARY KEY,             -- order of arrival
  track_id INTEGER REFERENCES track,  -- track with missing data; NULL = the whole trace
  from_ns INTEGER NOT NULL,           -- start of the interval concerned, ns since the trace's start
  to_ns INTEGER NOT NULL,             -- end of that interval, ns since the trace's start
  count INTEGER NOT NULL,             -- records that are missing
  reason TEXT NOT NULL                -- why: 'ring full', 'disk full'
) STRICT;

-- Findings of the last `pitwall analyze` that saved them, in the order of its report.
CREATE TABLE finding(
  id INTEGER PRIMARY KEY,      -- rank, from 1
  rule TEXT NOT NULL,          -- rule that produced it, stable: 'batch/can-grow'
  title TEXT NOT NULL,         -- headline
  severity TEXT NOT NULL,      -- 'info', 'low', 'medium' or 'high'
  verdict TEXT NOT NULL,       -- one sentence with its numbers and their units
  gain_low REAL NOT NULL,      -- predicted share of wall time removed, 0..1, lower end
  gain_high REAL NOT NULL,     -- predicted share of wall time removed, 0..1, upper end
  gain_method TEXT NOT NULL,   -- how the gain was predicted
  guard TEXT NOT NULL,         -- conditions under which the finding is wrong
  status TEXT NOT NULL         -- 'not tested', 'confirmed' or 'refuted'
) STRICT;

-- Settings and tunables that a finding proposes.
CREATE TABLE proposal(
  id INTEGER PRIMARY KEY,                           -- order of saving
  finding_id INTEGER NOT NULL REFERENCES finding,   -- finding that proposes it
  name TEXT NOT NULL,                               -- variable to set, as the program reads it
  current TEXT NOT NULL,                            -- value in effect, in the setting's own unit
  proposed TEXT NOT NULL,                           -- value to set, in the setting's own unit
  reason TEXT NOT NULL                              -- why, in one line
) STRICT;

-- Rows that a finding rests on.
CREATE TABLE evidence(
  id INTEGER PRIMARY KEY,                          -- order of saving
  finding_id INTEGER NOT NULL REFERENCES finding,  -- finding it supports
  row_json TEXT NOT NULL                           -- one row as a JSON object; its keys carry the units
) STRICT;

-- Runs of the program that tested a proposal.
CREATE TABLE trial(
  id INTEGER PRIMARY KEY,                 -- order of running
  finding_id INTEGER REFERENCES finding,  -- finding under test; NULL for a baseline run
  settings TEXT NOT NULL,                 -- what was set, NAME=VALUE, one per line
  metric TEXT NOT NULL,                   -- what was measured, with its unit: 'items_per_second'
  value REAL NOT NULL                     -- result, in the metric's unit
) STRICT;

-- Chunks of events: each holds events of one track, ordered by start.
CREATE TABLE event_chunk(
  id INTEGER PRIMARY KEY,                   -- id of the chunk's first event; the others follow it
  track_id INTEGER NOT NULL REFERENCES track,  -- track of all its events
  first_start_ns INTEGER NOT NULL,          -- least start, ns since the trace's start
  last_end_ns INTEGER NOT NULL,             -- greatest end (start + duration), at least the greatest start, ns since the trace's start
  event_count INTEGER NOT NULL,             -- number of events, 1..1048576
  max_dur_ns INTEGER NOT NULL,              -- longest duration, ns
  sum_dur_ns INTEGER NOT NULL,              -- sum of the durations, ns; capped at 2^63 - 1
  min_correlation INTEGER NOT NULL,         -- least correlation, as a signed integer
  max_correlation INTEGER NOT NULL,         -- greatest correlation, as a signed integer
  start BLOB NOT NULL,                      -- column: start, ns since the trace's start
  dur BLOB NOT NULL,                        -- column: duration, ns
  pushed_before BLOB NOT NULL,              -- column: start minus the time of the push to the engine, ns
  ready_before BLOB NOT NULL,               -- column: start minus the time when the last dependency was satisfied, ns
  correlation BLOB NOT NULL,                -- column: execution that dependencies refer to; 0 = none
  value BLOB NOT NULL,                      -- column: depends on the kind (bytes of a copy, items of a batch), else 0
  name BLOB NOT NULL,                       -- column: string.id of the name; 0 = none
  operator BLOB NOT NULL,                   -- column: operator.id; 0 = none
  kernel BLOB NOT NULL,                     -- column: kernel.id; 0 = none
  args BLOB NOT NULL,                       -- column: string.id of a JSON object of further arguments; 0 = none
  kind BLOB NOT NULL,                       -- column: number of the event kind (db/event.h)
  depth BLOB NOT NULL                       -- column: nesting on the track, 0 = outermost
) STRICT;
CREATE INDEX event_chunk_summary ON event_chunk(track_id, first_start_ns, last_end_ns, event_count, max_dur_ns,
  sum_dur_ns, min_correlation, max_correlation);

-- Summary of a chunk of events, so that statistics and drawing need not read the chunk. Chunks of fewer than 256 events
-- have none. Groups are by name and kind; nodes are up to 64 consecutive events of one depth. Columns as in the chunks.
CREATE TABLE event_summary(
  id INTEGER PRIMARY KEY,          -- event_chunk.id
  last_start_ns INTEGER NOT NULL,  -- greatest start, ns since the trace's start
  group_count INTEGER NOT NULL,    -- groups, by name and kind; 0: too many to store
  group_name BLOB,                 -- column: string.id of the name; 0 = none
  group_kind BLOB,                 -- column: number of the event kind (db/event.h)
  group_events BLOB,               -- column: number of events
  group_total BLOB,                -- column: sum of the durations, ns; capped at 2^63 - 1
  group_min BLOB,                  -- column: shortest duration, ns
  group_max BLOB,                  -- column: longest duration, ns
  node_count INTEGER NOT NULL,     -- nodes, ordered by depth, then by start; 0: too many to store
  node_depth BLOB,                 -- column: nesting of its events, 0 = outermost
  node_start BLOB,                 -- column: least start, ns since the trace's start
  node_end BLOB,                   -- column: greatest end, ns since the trace's start
  node_events BLOB,                -- column: number of events
  node_total BLOB,                 -- column: sum of the durations, ns; capped at 2^63 - 1
  node_longest BLOB,               -- column: longest duration, ns
  node_name BLOB,                  -- column: string.id of the longest event's name; 0 = none
  node_row BLOB                    -- column: position of its first event in the chunk, from 0
) STRICT;

-- Chunks of dependencies between executions.
CREATE TABLE dependency_chunk(
  id INTEGER PRIMARY KEY,             -- number of the chunk's first dependency; the others follow it
  dependency_count INTEGER NOT NULL,  -- number of dependencies, 1..1048576
  min_source INTEGER NOT NULL,        -- least source, as a signed integer
  max_source INTEGER NOT NULL,        -- greatest source, as a signed integer
  min_target INTEGER NOT NULL,        -- least target, as a signed integer
  max_target INTEGER NOT NULL,        -- greatest target, as a signed integer
  source BLOB NOT NULL,               -- column: correlation of what must finish first
  target BLOB NOT NULL,               -- column: correlation of what waits for it
  kind BLOB NOT NULL                  -- column: number of the dependency kind (db/event.h)
) STRICT;
CREATE INDEX dependency_chunk_summary ON dependency_chunk(dependency_count, min_source, max_source, min_target,
  max_target);

-- Chunks of counter samples: each holds samples of one counter track, ordered by time.
CREATE TABLE counter_chunk(
  id INTEGER PRIMARY KEY,                      -- number of the chunk's first sample; the others follow it
  track_id INTEGER NOT NULL REFERENCES track,  -- counter track
  first_time_ns INTEGER NOT NULL,              -- least time, ns since the trace's start
  last_time_ns INTEGER NOT NULL,               -- greatest time, ns since the trace's start
  sample_count INTEGER NOT NULL,               -- number of samples, 1..1048576
  min_value REAL,                              -- least value, in the track's unit; NULL when none is a number
  max_value REAL,                              -- greatest value, in the track's unit; NULL when none is a number
  time BLOB NOT NULL,                          -- column: time, ns since the trace's start
  value BLOB NOT NULL                          -- column: value, a real number in the track's unit
) STRICT;
CREATE INDEX counter_chunk_summary ON counter_chunk(track_id, first_time_ns, last_time_ns, sample_count);

-- Virtual tables (offered by the library, not stored):
--
-- event(id, track, start_ns, dur_ns, end_ns, pushed_ns, ready_ns, name, kind, phase, layer, operator, correlation, depth, value, kernel, args)
--   One row per event. kind is text: 'operator', 'bulk', 'scope', 'wait', 'data_wait', 'data_work', 'instant', 'recorder',
--   'api', 'kernel', 'copy', 'communication'. phase and layer are those of the operator facts, '' for other events ('none'
--   for phase). operator is operator.id and kernel is kernel.id, NULL when none. args is a JSON object, '' when
--   none: args ->> 'dtype'. Fast with: id, track, start_ns, end_ns, dur_ns, name, kind, operator, kernel, args, correlation
--   compared to a value.
-- dependency(source, target, kind)
--   One row per dependency; source and target are correlations. kind is text: 'read_after_write', 'write_after_read',
--   'write_after_write', 'launch', 'batch', 'flow'. Fast with: source, target compared to a value.
-- counter(track, time_ns, value, name, unit)
--   One row per sample; name and unit are the track's. Fast with: track, time_ns compared to a value.
--
-- Table-valued functions; arguments left out or NULL mean all:
--
-- event_stats(track, t0, t1) -> name, kind, count, total_ns, min_ns, max_ns
--   Events that start in [t0, t1), grouped by name and kind; durations in ns.
-- event_busy(track, t0, t1, kind) -> busy_ns
--   Time within [t0, t1) that at least one event (of that kind) covers, ns. Without a track: one row per thread or stream;
--   select the hidden column track to distinguish them.
-- event_overlap(a, b, t0, t1) -> overlap_ns
--   Time within [t0, t1) that events of track a and events of track b cover at once, ns. Both tracks are needed.
-- event_lod(track, t0, t1, bins, depth) -> bin, begin_ns, count, total_ns, longest_ns, longest_name
--   The range [t0, t1), the whole track without them, divided into bins of equal width (1000), one per pixel. A row per bin
--   that events (of that depth) touch: how many start there, their time within it, ns, and the longest that touches it.
--   Where many events fall into a bin, one may be counted in the neighbouring bin; the sums over all bins are exact.
