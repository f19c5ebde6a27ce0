// Events and arrows of a Chrome trace.

#include "db/export/append_text.h"
#include "db/export/chrome_writer.h"
#include "db/export/json_text.h"
#include "db/json_string.h"
#include "db/try.h"

namespace pitwall::exporting {

void ChromeWriter::kernelArguments(const KernelFacts& facts) {
  const auto three = [&](std::string_view name, const std::array<std::int32_t, 3>& size) {
    key(name);
    appendText(out_.buffer(), "[{},{},{}]", size[0], size[1], size[2]);
  };
  three("grid", facts.grid);
  three("block", facts.block);
  integer("registers per thread", facts.registers_per_thread);
  integer("shared memory", facts.static_shared_bytes + facts.dynamic_shared_bytes);
}

// Zero values are left out. Import reads the first keys; the others are for readers of the file.
void ChromeWriter::arguments(const FullEvent& full, TrackId track) {
  const Event& event = full.event;
  out_.append(",\"args\":{\"track\":");
  appendInteger(out_.buffer(), std::int64_t{track.value});
  if (event.depth != 0) integer("depth", event.depth);
  if (event.correlation != 0) {
    key("correlation");
    appendInteger(out_.buffer(), std::uint64_t{event.correlation});
  }
  if (event.value != 0) integer("value", event.value);
  const std::int64_t pushed = event.start_ns - event.pushed_ns;
  const std::int64_t ready = event.start_ns - event.ready_ns;
  if (pushed != 0) integer("pushed_before_ns", pushed);
  if (ready != 0) integer("ready_before_ns", ready);
  if (event.op && event.op.value <= trace_.operatorFacts().size()) {
    const OperatorFacts& facts = trace_.operatorFacts()[event.op.value - 1];
    integer("operator", event.op.value);
    if (!facts.layer.empty()) text("layer", facts.layer);
    if (facts.phase != Phase::none) text("phase", toString(facts.phase));
    if (!facts.shapes.empty()) text("shapes", facts.shapes);
  }
  if (event.kernel && event.kernel.value <= trace_.kernelFacts().size()) {
    integer("kernel", event.kernel.value);
    kernelArguments(trace_.kernelFacts()[event.kernel.value - 1]);
  }
  if (!full.args.empty()) {
    key("args");
    if (isJsonObject(full.args)) {
      out_.append(full.args);
    } else {
      appendJsonString(full.args, out_.buffer());
    }
  }
  out_.append("}");
}

void ChromeWriter::event(const FullEvent& full, TrackId track, const ChromeRow& row) {
  const Event& event = full.event;
  const bool instant = event.kind == EventKind::instant && event.dur_ns == 0;
  begin(instant ? 'i' : 'X', full.name);
  text("cat", toString(event.kind));
  place(row, event.start_ns);
  if (instant) {
    text("s", "t");
  } else {
    key("dur");
    appendMicroseconds(out_.buffer(), event.dur_ns);
  }
  arguments(full, track);
  end();
  ++summary_.events;
}

Status ChromeWriter::events(TrackId track) {
  Nesting nesting;
  std::vector<std::uint32_t> numbers;  // of the track's rows in drawn_
  return eachEvent(trace_, track, selection_, pace_, [&](const FullEvent& full) {
    const Event& at = full.event;
    const std::size_t row = nesting.place(at.start_ns, at.start_ns + at.dur_ns);
    if (row == numbers.size()) {
      numbers.push_back(static_cast<std::uint32_t>(drawn_.size()));
      drawn_.push_back(row == 0 ? rows_.of(track) : rows_.further(track, row));
      nameRow(drawn_.back(), track.value);
    }
    event(full, track, drawn_[numbers[row]]);
    if (at.correlation != 0) locations_.add({at.correlation, at.start_ns, numbers[row]});
    return out_.flush();
  });
}

// An arrow is drawn when both ends exist; import reads only its end.
void ChromeWriter::arrow(const Location& source, const Location& target, const Dependency& dependency) {
  for (const bool is_end : {false, true}) {
    const Location& at = is_end ? target : source;
    begin(is_end ? 'f' : 's', toString(dependency.kind));
    text("cat", "dependency");
    integer("id", summary_.dependencies);
    place(drawn_[at.row], at.start_ns);
    if (is_end) {
      text("bp", "e");
      out_.append(",\"args\":{\"source\":");
      appendInteger(out_.buffer(), std::uint64_t{dependency.source});
      key("target");
      appendInteger(out_.buffer(), std::uint64_t{dependency.target});
      out_.append("}");
    }
    end();
  }
}

Status ChromeWriter::dependencies() {
  PITWALL_TRY(locations_.seal());
  return eachDependency(trace_, pace_, [&](const Dependency& dependency) -> Status {
    const auto source = locations_.find(dependency.source);
    const auto target = locations_.find(dependency.target);
    if (!selection_.isComplete() && (!source || !target)) return {};
    ++summary_.dependencies;
    if (source && target) {
      arrow(*source, *target, dependency);
    } else {
      begin('M', "pitwall_dependency");
      out_.append(",\"args\":{\"version\":1");
      text("kind", toString(dependency.kind));
      key("source");
      appendInteger(out_.buffer(), std::uint64_t{dependency.source});
      key("target");
      appendInteger(out_.buffer(), std::uint64_t{dependency.target});
      out_.append("}}");
    }
    return out_.flush();
  });
}

}  // namespace pitwall::exporting
