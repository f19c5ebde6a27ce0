#include "gui/models/event_details.h"

#include <QCoreApplication>

#include "analyzer/roofline.h"
#include "analyzer/units_text.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("EventDetails", text); }

QString text(const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return QString::number(*integer);
  if (const auto* real = std::get_if<double>(&value)) return QString::number(*real);
  if (const auto* string = std::get_if<std::string>(&value)) return QString::fromStdString(*string);
  return {};
}

std::int64_t integer(const SqlValue& value) {
  const auto* held = std::get_if<std::int64_t>(&value);
  return held == nullptr ? 0 : *held;
}

QString words(const std::string& text) { return QString::fromStdString(text); }
QString duration(std::int64_t ns) { return words(showDuration(static_cast<double>(ns))); }
QString moment(std::int64_t ns) { return words(showMoment(static_cast<double>(ns), 1)); }
QString size(Bytes bytes) { return words(showBytes(static_cast<double>(bytes))); }

void addIf(Details& details, const QString& name, const QString& value) {
  if (!value.isEmpty()) details.emplace_back(name, value);
}

// The four times of an operator, in the terms that people ask for.
void addTimes(Details& details, const std::vector<SqlValue>& row) {
  const std::int64_t start = integer(row[1]), dur = integer(row[2]), pushed = integer(row[3]),
                     ready = integer(row[4]);
  if (pushed < start) {
    details.emplace_back(tr("Pushed at"), moment(pushed));
    details.emplace_back(tr("Waited for its operands"), duration(std::max<std::int64_t>(0, ready - pushed)));
    details.emplace_back(tr("Queued for a worker"), duration(std::max<std::int64_t>(0, start - ready)));
  }
  details.emplace_back(tr("Starts at"), moment(start));
  details.emplace_back(tr("Ran for"), duration(dur));
  details.emplace_back(tr("Ends at"), moment(start + dur));
}

// "5.85 GFLOP/s, 4.1 % of the machine's 142 GFLOP/s"
QString rateAgainst(double rate, double roofline, const char* unit) {
  const QString own = words(showScaled(rate, unit));
  if (roofline <= 0) return own;
  return tr("%1, %2 of the machine's %3")
      .arg(own, words(showShare(rate / roofline)), words(showScaled(roofline, unit)));
}

void addRates(Trace& trace, Details& details, const OperatorFacts& facts, double seconds) {
  if (seconds <= 0) return;
  // The roofline is the processors'; of a device none is known.
  const bool on_device = facts.backend.rfind("cu", 0) == 0;
  const MachineRoofline roofline = on_device ? MachineRoofline{} : machineRoofline(trace);
  if (facts.flop > 0) {
    const auto flop = static_cast<double>(facts.flop);
    details.emplace_back(tr("Work"), words(showScaled(flop, "FLOP")));
    details.emplace_back(tr("Rate"), rateAgainst(flop / seconds, roofline.flop_per_second, "FLOP/s"));
  }
  const Bytes bytes = facts.bytes_read + facts.bytes_written;
  if (bytes > 0) {
    details.emplace_back(tr("Reads and writes"), size(facts.bytes_read) + ", " + size(facts.bytes_written));
    details.emplace_back(tr("Memory rate"),
                         rateAgainst(static_cast<double>(bytes) / seconds, roofline.bytes_per_second, "B/s"));
  }
}

void addOperator(Trace& trace, Details& details, std::int64_t id, std::int64_t dur_ns) {
  if (id <= 0 || static_cast<std::size_t>(id) > trace.operatorFacts().size()) return;
  const OperatorFacts& facts = trace.operatorFacts()[static_cast<std::size_t>(id - 1)];
  addIf(details, tr("Operator"), words(facts.name));
  addIf(details, tr("Layer"), words(facts.layer));
  addIf(details, tr("Phase"), QString::fromLatin1(toString(facts.phase)));
  addIf(details, tr("Shapes"), words(facts.shapes));
  addIf(details, tr("Type"), words(facts.dtype));
  addIf(details, tr("Backend"), words(facts.backend));
  addIf(details, tr("Implementation"), words(facts.implementation));
  addRates(trace, details, facts, static_cast<double>(dur_ns) * 1e-9);
}

QString product(const std::array<std::int32_t, 3>& sides) {
  const auto all = static_cast<qlonglong>(sides[0]) * sides[1] * sides[2];
  return QString("%1 x %2 x %3 = %4").arg(sides[0]).arg(sides[1]).arg(sides[2]).arg(all);
}

void addKernel(const Trace& trace, Details& details, std::int64_t id) {
  if (id <= 0 || static_cast<std::size_t>(id) > trace.kernelFacts().size()) return;
  const KernelFacts& facts = trace.kernelFacts()[static_cast<std::size_t>(id - 1)];
  if (facts.grid[0] > 0) details.emplace_back(tr("Grid, blocks"), product(facts.grid));
  if (facts.block[0] > 0) details.emplace_back(tr("Block, threads"), product(facts.block));
  if (facts.registers_per_thread > 0)
    details.emplace_back(tr("Registers of a thread"), QString::number(facts.registers_per_thread));
  details.emplace_back(tr("Shared memory of a block"),
                       tr("%1 (%2 of it requested at launch)")
                           .arg(size(facts.static_shared_bytes + facts.dynamic_shared_bytes),
                                size(facts.dynamic_shared_bytes)));
  if (facts.local_bytes > 0) details.emplace_back(tr("Local memory of a thread"), size(facts.local_bytes));
  if (facts.theoretical_occupancy > 0) {
    const QString share = words(showShare(facts.theoretical_occupancy));
    details.emplace_back(tr("Occupancy, theoretical"),
                         facts.limiter.empty()
                             ? tr("%1 of the warps that a multiprocessor holds").arg(share)
                             : tr("%1 of the warps that a multiprocessor holds; limited by %2")
                                   .arg(share, words(facts.limiter)));
  }
}

// Settings that were set; defaults are in the table `setting`.
void addSettings(const Trace& trace, Details& details) {
  for (const SettingInEffect& setting : trace.settings()) {
    if (setting.source == SettingSource::byDefault) continue;
    details.emplace_back(tr("Setting in effect"), QString("%1=%2 (%3)")
                                                      .arg(words(setting.name), words(setting.value),
                                                           QString::fromLatin1(toString(setting.source))));
  }
  for (const TunableInEffect& tunable : trace.tunables()) {
    details.emplace_back(tr("Tunable in effect"), QString("%1=%2 (%3)")
                                                      .arg(words(tunable.name))
                                                      .arg(tunable.value)
                                                      .arg(QString::fromLatin1(toString(tunable.source))));
  }
}

}  // namespace

EventFacts factsOf(Trace& trace, const Timeline& timeline, const EventRef& event) {
  const TimelineTrack& track = timeline.tracks[event.track];
  const Lane& lane = track.lanes[event.lane];
  const std::string& name = timeline.name(lane.name(event.index));
  const SqlParameter parameters[] = {{":track", static_cast<std::int64_t>(track.id.value)},
                                     {":start", lane.startNs(event.index)},
                                     {":dur", lane.durNs(event.index)},
                                     {":name", name}};
  const auto rows = trace.query(
      "SELECT kind, start_ns, dur_ns, pushed_ns, ready_ns, operator, correlation, value, kernel, args "
      "FROM event WHERE track = :track AND start_ns = :start AND dur_ns = :dur AND name = :name LIMIT 1",
      parameters);
  EventFacts facts;
  Details& details = facts.details;
  details.emplace_back(tr("Name"), words(name));
  details.emplace_back(tr("Track"), words(track.title));
  if (!rows.has_value()) {
    details.emplace_back(tr("Not known"), words(rows.error().message));
    return facts;
  }
  if (rows->rows.empty()) return facts;
  const auto& row = rows->rows[0];
  addIf(details, tr("Kind"), text(row[0]).replace('_', ' '));
  addTimes(details, row);
  addOperator(trace, details, integer(row[5]), integer(row[2]));
  addKernel(trace, details, integer(row[8]));
  if (const std::int64_t value = integer(row[7]); value != 0) {
    const bool bytes = text(row[0]) == "copy" || text(row[0]) == "communication";
    details.emplace_back(bytes ? tr("Size") : tr("Value"), bytes ? size(value) : text(row[7]));
  }
  addIf(details, tr("Arguments"), text(row[9]));
  addSettings(trace, details);
  facts.links = linksOf(trace, timeline, event, integer(row[6]));
  return facts;
}

std::optional<EventRef> eventWithId(Trace& trace, const Timeline& timeline, std::int64_t id) {
  const SqlParameter parameter{":id", id};
  const auto rows = trace.query("SELECT track, start_ns, dur_ns FROM event WHERE id = :id", {&parameter, 1});
  if (!rows.has_value() || rows->rows.empty()) return std::nullopt;
  const auto number = [&](std::size_t i) { return std::get<std::int64_t>(rows->rows[0][i]); };
  const auto track = trackWithId(timeline, static_cast<std::uint64_t>(number(0)));
  return track ? eventAt(timeline, *track, number(1), number(2)) : std::nullopt;
}

}  // namespace pitwall::gui
