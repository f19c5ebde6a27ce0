#include "db/export/chrome_writer.h"

#include <algorithm>

#include "db/export/append_text.h"
#include "db/export/json_text.h"
#include "db/json_string.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::exporting {

void ChromeWriter::begin(char phase, std::string_view name) {
  out_.append(first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
  first_ = false;
  out_.buffer().push_back(phase);
  out_.append("\",\"name\":");
  appendJsonString(name, out_.buffer());
}

void ChromeWriter::key(std::string_view name) {
  out_.append(",\"");
  out_.append(name);
  out_.append("\":");
}

void ChromeWriter::text(std::string_view name, std::string_view value) {
  key(name);
  appendJsonString(value, out_.buffer());
}

void ChromeWriter::integer(std::string_view name, std::int64_t value) {
  key(name);
  appendInteger(out_.buffer(), value);
}

void ChromeWriter::place(const ChromeRow& row, TimeNs time_ns) {
  key("ts");
  appendMicroseconds(out_.buffer(), time_ns);
  appendText(out_.buffer(), ",\"pid\":{},\"tid\":{}", row.pid, row.tid);
}

// {"ph":"M","name":"pitwall_TABLE","args":{...}}; the first member is the table's id or key.
class ChromeWriter::Record {
 public:
  Record(ChromeWriter& writer, std::string_view table) : writer_(writer) {
    writer_.begin('M', fmt::format("pitwall_{}", table));
    writer_.out_.append(",\"args\":{\"version\":1");
  }
  ~Record() { writer_.out_.append("}}"); }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  Record& text(std::string_view key, std::string_view value) { return writer_.text(key, value), *this; }
  Record& integer(std::string_view key, std::int64_t value) { return writer_.integer(key, value), *this; }
  Record& real(std::string_view key, double value) {
    writer_.key(key);
    appendReal(writer_.out_.buffer(), value);
    return *this;
  }

 private:
  ChromeWriter& writer_;
};

// Data that a reader needs before the first event to align the trace with others.
Status ChromeWriter::extent() {
  const auto rows = PITWALL_TRY(trace_.query(
      "SELECT min(a), max(b), max(c) FROM (SELECT min(first_start_ns) AS a, max(last_end_ns) AS b, "
      "max(max_correlation) AS c FROM event_chunk UNION ALL SELECT min(first_time_ns), max(last_time_ns), 0 "
      "FROM "
      "counter_chunk UNION ALL SELECT NULL, NULL, max(max(max_source), max(max_target)) FROM "
      "dependency_chunk)"));
  const auto integer = [&](std::size_t column) {
    const auto* value = std::get_if<std::int64_t>(&rows.rows.at(0).at(column));
    return value == nullptr ? 0 : *value;
  };
  Record(*this, "trace")
      .integer("format", 1)
      .integer("first_ns", integer(0))
      .integer("last_ns", integer(1))
      .integer("correlations", std::max<std::int64_t>(0, integer(2)))
      .text("start_unix_ns", trace_.meta(meta::kTraceStartUnixNs).value_or(""));
  return {};
}

Status ChromeWriter::meta() {
  const auto rows = PITWALL_TRY(trace_.query("SELECT key, value FROM meta ORDER BY key"));
  for (const auto& row : rows.rows) {
    const auto& name = std::get<std::string>(row[0]);
    if (name == meta::kComplete) continue;
    Record(*this, "meta").text("key", name).text("value", std::get<std::string>(row[1]));
  }
  for (const SettingInEffect& setting : trace_.settings()) {
    Record(*this, "setting")
        .text("name", setting.name)
        .text("value", setting.value)
        .text("source", toString(setting.source));
  }
  for (const TunableInEffect& tunable : trace_.tunables()) {
    Record(*this, "tunable")
        .text("name", tunable.name)
        .integer("value", tunable.value)
        .integer("default_value", tunable.default_value)
        .integer("minimum", tunable.minimum)
        .integer("maximum", tunable.maximum)
        .text("source", toString(tunable.source));
  }
  return {};
}

void ChromeWriter::dimensions() {
  std::int64_t id = 0;
  for (const ProcessInfo& process : trace_.processes()) {
    Record(*this, "process")
        .integer("id", ++id)
        .integer("pid", process.pid)
        .text("process_name", process.name)
        .text("command_line", process.command_line)
        .integer("rank", process.rank);
  }
  id = 0;
  for (const ThreadInfo& thread : trace_.threads()) {
    Record(*this, "thread")
        .integer("id", ++id)
        .integer("process", thread.process.value)
        .integer("tid", thread.tid)
        .text("thread_name", thread.name);
  }
  id = 0;
  for (const DeviceInfo& device : trace_.devices()) {
    Record(*this, "device")
        .integer("id", ++id)
        .text("kind", device.kind)
        .integer("index", device.index)
        .text("device_name", device.name)
        .integer("memory_bytes", device.memory_bytes);
  }
  id = 0;
  for (const TrackInfo& track : trace_.tracks()) {
    Record(*this, "track")
        .integer("id", ++id)
        .text("kind", toString(track.kind))
        .integer("process", track.process.value)
        .integer("thread", track.thread.value)
        .integer("device", track.device.value)
        .text("track_name", track.name)
        .text("unit", track.unit);
  }
  for (const Loss& loss : trace_.losses()) {
    Record(*this, "loss")
        .integer("track", loss.track.value)
        .integer("from_ns", loss.from_ns)
        .integer("to_ns", loss.to_ns)
        .integer("count", loss.count)
        .text("reason", loss.reason);
  }
}

void ChromeWriter::facts() {
  std::int64_t id = 0;
  for (const OperatorFacts& facts : trace_.operatorFacts()) {
    Record(*this, "operator")
        .integer("id", ++id)
        .text("operator_name", facts.name)
        .text("layer", facts.layer)
        .text("shapes", facts.shapes)
        .text("dtype", facts.dtype)
        .text("backend", facts.backend)
        .text("implementation", facts.implementation)
        .text("phase", toString(facts.phase))
        .integer("flop", facts.flop)
        .integer("bytes_read", facts.bytes_read)
        .integer("bytes_written", facts.bytes_written);
  }
  id = 0;
  for (const KernelFacts& facts : trace_.kernelFacts()) {
    Record(*this, "kernel")
        .integer("id", ++id)
        .integer("grid_x", facts.grid[0])
        .integer("grid_y", facts.grid[1])
        .integer("grid_z", facts.grid[2])
        .integer("block_x", facts.block[0])
        .integer("block_y", facts.block[1])
        .integer("block_z", facts.block[2])
        .integer("registers_per_thread", facts.registers_per_thread)
        .integer("static_shared_bytes", facts.static_shared_bytes)
        .integer("dynamic_shared_bytes", facts.dynamic_shared_bytes)
        .integer("local_bytes", facts.local_bytes)
        .real("theoretical_occupancy", facts.theoretical_occupancy)
        .text("limiter", facts.limiter);
  }
}

void ChromeWriter::stacks() {
  std::int64_t id = 0;
  for (const FrameInfo& frame : trace_.frames()) {
    Record(*this, "frame")
        .integer("id", ++id)
        .text("function", frame.function)
        .text("file", frame.file)
        .integer("line", frame.line)
        .text("language", frame.language);
  }
  id = 0;
  for (const StackInfo& stack : trace_.stacks()) {
    Record(*this, "stack")
        .integer("id", ++id)
        .integer("caller", stack.caller.value)
        .integer("frame", stack.frame.value);
  }
}

void ChromeWriter::nameRow(const ChromeRow& row, std::int64_t sort_index) {
  if (!named_.insert({row.pid, row.tid}).second) return;
  const auto head = [&](std::string_view what) {
    begin('M', what);
    appendText(out_.buffer(), ",\"pid\":{},\"tid\":{},\"args\":{{", row.pid, row.tid);
  };
  head("thread_name");
  out_.append("\"name\":");
  appendJsonString(row.name, out_.buffer());
  out_.append("}}");
  head("thread_sort_index");
  appendText(out_.buffer(), "\"sort_index\":{}}}}}", sort_index);
}

void ChromeWriter::rows() {
  for (const ChromeProcess& process : rows_.processes()) {
    const auto record = [&](std::string_view what, std::string_view key) {
      begin('M', what);
      appendText(out_.buffer(), ",\"pid\":{},\"tid\":0,\"args\":{{\"{}\":", process.pid, key);
    };
    record("process_name", "name");
    appendJsonString(process.name, out_.buffer());
    out_.append("}}");
    record("process_sort_index", "sort_index");
    appendText(out_.buffer(), "{}}}}}", process.sort_index);
    if (process.rank == 0) continue;
    record("process_labels", "labels");
    appendText(out_.buffer(), "\"rank {}\"}}}}", process.rank);
  }
}

void ChromeWriter::iterations() {
  const auto marks = trace_.iterations();
  if (marks.empty()) return;
  const ChromeRow row = rows_.extra("iterations");
  nameRow(row, -1);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const IterationMark& mark = marks[i];
    if (!selection_.has(mark)) continue;
    const bool range = i + 1 < marks.size() && marks[i + 1].time_ns > mark.time_ns;
    begin(range ? 'X' : 'i', fmt::format("iteration {}", mark.index));
    text("cat", "iteration");
    place(row, mark.time_ns);
    if (range) {
      key("dur");
      appendMicroseconds(out_.buffer(), marks[i + 1].time_ns - mark.time_ns);
    } else {
      text("s", "p");
    }
    out_.append(",\"args\":{\"iteration\":");
    appendInteger(out_.buffer(), mark.index);
    integer("items", mark.items);
    out_.append("}}");
  }
}

Status ChromeWriter::counters(TrackId track) {
  const std::vector<CounterSample> samples = PITWALL_TRY(samplesOf(trace_, track, selection_));
  const ChromeRow& row = rows_.of(track);
  if (hasStacks(track)) nameRow(rows_.threadOf(track), track.value);  // its thread may have no events
  std::int64_t since = 0;
  for (const CounterSample& sample : samples) {
    begin('C', row.name);
    place(row, sample.time_ns);
    out_.append(",\"args\":{\"value\":");
    appendReal(out_.buffer(), sample.value);
    out_.append("}}");
    ++summary_.samples;
    if (++since % 8192 != 0) continue;
    PITWALL_TRY(out_.flush());
    PITWALL_TRY(pace_.advance(8192));
  }
  return pace_.advance(since % 8192);
}

Result<ExportSummary> ChromeWriter::write() {
  out_.append("{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[");
  PITWALL_TRY(extent());
  PITWALL_TRY(meta());
  dimensions();
  facts();
  stacks();
  rows();
  iterations();
  for (std::size_t i = 0; i < trace_.tracks().size(); ++i) {
    const TrackId track{static_cast<std::uint32_t>(i + 1)};
    if (!selection_.has(track)) continue;
    PITWALL_TRY(trace_.tracks()[i].kind == TrackKind::counter ? counters(track) : events(track));
  }
  PITWALL_TRY(dependencies());
  out_.append("\n]");
  PITWALL_TRY(sampledStacks());
  out_.append("}\n");
  return summary_;
}

}  // namespace pitwall::exporting
