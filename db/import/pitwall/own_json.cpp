#include "db/import/pitwall/own_json.h"

#include <cmath>
#include <limits>

#include "db/import/input/json.h"
#include "db/import/input/text.h"
#include "db/import/pitwall/operator_args.h"

namespace pitwall::import {

namespace {

constexpr std::string_view kPrefix = "pitwall_";

std::uint64_t unsignedOf(const ChromeEvent& event, std::string_view key) {
  std::uint64_t value = 0;
  for (const char c : event.arg(key).text) {
    if (c < '0' || c > '9' || value > std::numeric_limits<std::uint64_t>::max() / 10 - 1) return 0;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

double realOf(const JsonValue& value) {
  if (value.text == "NaN") return std::nan("");
  if (value.text == "Infinity") return std::numeric_limits<double>::infinity();
  if (value.text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return value.isNumberOrString() ? parseReal(value.text).value_or(0) : 0;
}

OperatorFacts operatorOf(const ChromeEvent& event) {
  OperatorFacts facts = operatorArgs(event);
  facts.name = textArg(event, "operator_name");
  return facts;
}

KernelFacts kernelOf(const ChromeEvent& event) {
  const auto small = [&](std::string_view key) { return static_cast<std::int32_t>(integerArg(event, key)); };
  KernelFacts facts;
  facts.grid = {small("grid_x"), small("grid_y"), small("grid_z")};
  facts.block = {small("block_x"), small("block_y"), small("block_z")};
  facts.registers_per_thread = small("registers_per_thread");
  facts.static_shared_bytes = integerArg(event, "static_shared_bytes");
  facts.dynamic_shared_bytes = integerArg(event, "dynamic_shared_bytes");
  facts.local_bytes = integerArg(event, "local_bytes");
  facts.theoretical_occupancy = realOf(event.arg("theoretical_occupancy"));
  facts.limiter = textArg(event, "limiter");
  return facts;
}

}  // namespace

bool OwnJson::take(const ChromeEvent& event) {
  const std::string_view name = event.name.text;
  const char ph = event.ph();
  if (ph == 'M' && name.substr(0, kPrefix.size()) == kPrefix) {
    record(name.substr(kPrefix.size()), event);
    return true;
  }
  if (!seen_) return false;
  if (ph == 'X' || ph == 'i') {
    range(event);
  } else if (ph == 'C') {
    const auto track = parseInteger(event.thread.text);
    const auto time = event.timeNs();
    if (track && time) row_import_.sample(*track, *time, realOf(event.arg("value")));
  } else if (ph == 'f') {
    dependency(event);
  }
  return true;  // names and places of rows, starts of arrows: known from the records
}

void OwnJson::record(std::string_view table, const ChromeEvent& event) {
  if (table == "trace") {
    if (seen_) return;  // several concatenated files are not one trace
    seen_ = true;
    row_import_.begin(
        {integerArg(event, "first_ns"), integerArg(event, "last_ns"), unsignedOf(event, "correlations")});
    if (const std::int64_t start = integerArg(event, "start_unix_ns"); start > 0)
      builder_.clock().wallClock(start);
  } else if (seen_ && !dimension(table, event)) {
    facts(table, event);
  }
}

bool OwnJson::dimension(std::string_view table, const ChromeEvent& event) {
  const std::int64_t number = integerArg(event, "id");
  if (table == "process") {
    ProcessInfo process{integerArg(event, "pid"), textArg(event, "process_name"),
                        textArg(event, "command_line")};
    process.rank = static_cast<int>(integerArg(event, "rank"));
    row_import_.process(number, std::move(process));
  } else if (table == "thread") {
    row_import_.thread(number, {{}, integerArg(event, "tid"), textArg(event, "thread_name")},
                       integerArg(event, "process"));
  } else if (table == "device") {
    row_import_.device(number, {textArg(event, "kind"), static_cast<int>(integerArg(event, "index")),
                                textArg(event, "device_name"), integerArg(event, "memory_bytes")});
  } else if (table == "track") {
    TrackInfo track;
    track.kind = enumeratorOf(textArg(event, "kind"), TrackKind::counter);
    track.name = textArg(event, "track_name");
    track.unit = textArg(event, "unit");
    row_import_.track(
        number, std::move(track),
        {integerArg(event, "process"), integerArg(event, "thread"), integerArg(event, "device")});
  } else if (table == "operator") {
    row_import_.operatorFacts(number, operatorOf(event));
  } else if (table == "kernel") {
    row_import_.kernelFacts(number, kernelOf(event));
  } else if (table == "frame") {
    row_import_.frame(number,
                      {textArg(event, "function"), textArg(event, "file"),
                       static_cast<std::int32_t>(integerArg(event, "line")), textArg(event, "language")});
  } else if (table == "stack") {
    row_import_.stack(number, integerArg(event, "caller"), integerArg(event, "frame"));
  } else {
    return false;
  }
  return true;
}

void OwnJson::facts(std::string_view table, const ChromeEvent& event) {
  if (table == "meta") {
    row_import_.meta(textArg(event, "key"), textArg(event, "value"));
  } else if (table == "setting") {
    row_import_.setting({textArg(event, "name"), textArg(event, "value"),
                         enumeratorOf(textArg(event, "source"), SettingSource::program)});
  } else if (table == "tunable") {
    row_import_.tunable({textArg(event, "name"), integerArg(event, "value"),
                         integerArg(event, "default_value"), integerArg(event, "minimum"),
                         integerArg(event, "maximum"),
                         enumeratorOf(textArg(event, "source"), SettingSource::program)});
  } else if (table == "loss") {
    row_import_.loss({{},
                      integerArg(event, "from_ns"),
                      integerArg(event, "to_ns"),
                      integerArg(event, "count"),
                      textArg(event, "reason")},
                     integerArg(event, "track"));
  } else if (table == "dependency") {
    row_import_.dependency({unsignedOf(event, "source"), unsignedOf(event, "target"),
                            enumeratorOf(textArg(event, "kind"), DependencyKind::flow)});
  } else {
    builder_.tally().notUnderstood("records of Pitwall of another version", table);
  }
}

void OwnJson::range(const ChromeEvent& event) {
  const auto start = event.timeNs();
  if (!start) return builder_.tally().dropped("events without a time", event.name.text);
  if (event.category.text == "iteration")
    return row_import_.iteration({integerArg(event, "iteration"), *start, integerArg(event, "items")});
  Event out;
  out.start_ns = *start;
  out.dur_ns = event.durationNs().value_or(0);
  if (__builtin_sub_overflow(*start, integerArg(event, "pushed_before_ns"), &out.pushed_ns) ||
      __builtin_sub_overflow(*start, integerArg(event, "ready_before_ns"), &out.ready_ns))
    return builder_.tally().dropped("events with a time out of range", event.name.text);
  out.correlation = unsignedOf(event, "correlation");
  out.value = integerArg(event, "value");
  out.kind = enumeratorOf(event.category.text, EventKind::communication);
  out.depth = static_cast<std::uint16_t>(integerArg(event, "depth"));
  name_ = unescape(event.name.text);
  const JsonValue args = event.arg("args");
  args_ = args.type == JsonType::object   ? std::string(args.text)
          : args.type == JsonType::string ? unescape(args.text)
                                          : std::string();
  row_import_.event(out, {name_, args_, integerArg(event, "track"), integerArg(event, "operator"),
                          integerArg(event, "kernel")});
}

void OwnJson::dependency(const ChromeEvent& event) {
  row_import_.dependency({unsignedOf(event, "source"), unsignedOf(event, "target"),
                          enumeratorOf(event.name.text, DependencyKind::flow)});
}

}  // namespace pitwall::import
