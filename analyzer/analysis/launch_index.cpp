#include "analyzer/analysis/launch_index.h"

#include <algorithm>
#include <tuple>

#include "db/try.h"

namespace pitwall::analysis {

void LaunchIndex::Numbers::assign(std::vector<CorrelationId> numbers) {
  table_.clear();
  numbers_.clear();
  if (numbers.empty()) return;
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  const CorrelationId first = *least, span = *greatest - first;
  if (span >= kSpread * numbers.size()) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    numbers_ = std::move(numbers);
    return;
  }
  // Inserting into the table orders them.
  table_.assign(span + 1, kNone);
  for (const CorrelationId number : numbers) table_[number - first] = 0;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (table_[i] == kNone) continue;
    table_[i] = static_cast<std::uint32_t>(numbers_.size());
    numbers_.push_back(first + i);
  }
}

std::uint32_t LaunchIndex::Numbers::place(CorrelationId number) const {
  if (!table_.empty()) {
    const auto at = number - numbers_.front();  // wraps around below the first
    return at < table_.size() ? table_[at] : kNone;
  }
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), number);
  return at != numbers_.end() && *at == number ? static_cast<std::uint32_t>(at - numbers_.begin()) : kNone;
}

Status LaunchIndex::load(Trace& trace, std::span<const DeviceWork> work) {
  std::vector<CorrelationId> numbers;
  numbers.reserve(work.size());
  for (const auto& w : work) numbers.push_back(w.correlation);
  return load(trace, std::move(numbers));
}

Status LaunchIndex::load(Trace& trace, std::vector<CorrelationId> work) {
  std::erase(work, CorrelationId{0});
  work_.assign(std::move(work));
  launch_.assign(work_.all().size(), Numbers::kNone);
  calls_.clear();
  operators_.clear();
  if (work_.all().empty()) return {};
  PITWALL_TRY(readLeads(trace));
  PITWALL_TRY(readCalls(trace));
  // A work's own correlation already names its launch and has precedence over a dependency.
  for (std::size_t i = 0; i < launch_.size(); ++i) {
    const auto place = sources_.place(work_.all()[i]);
    if (calls_[place].correlation != 0) launch_[i] = place;
  }
  for (const Lead& lead : leads_) {
    const auto place = sources_.place(lead.source);
    if (launch_[lead.work] == Numbers::kNone && calls_[place].correlation != 0) launch_[lead.work] = place;
  }
  return {};
}

Status LaunchIndex::readLeads(Trace& trace) {
  leads_.clear();
  std::vector<CorrelationId> sources(work_.all().begin(), work_.all().end());
  auto status = trace.visitDependencies({work_.all()}, [&](std::span<const Dependency> dependencies) {
    for (const auto& dependency : dependencies) {
      if (dependency.kind != DependencyKind::launch || dependency.source == 0) continue;
      const auto place = work_.place(dependency.target);
      if (place == Numbers::kNone) continue;
      leads_.push_back({place, dependency.source});
      sources.push_back(dependency.source);
    }
    return true;
  });
  PITWALL_TRY(status);
  sources_.assign(std::move(sources));
  return {};
}

Status LaunchIndex::readCalls(Trace& trace) {
  calls_.assign(sources_.all().size(), HostCall{});
  for (const auto& track : activity_->tracks) {
    if (track.calls == 0) continue;
    auto status = trace.eventColumns(
        {.track = track.id,
         .fields = kStart | kDur | kCorrelation | kName | kKind,
         .correlations = sources_.all()},
        [&](const EventSpans& events) {
          for (std::size_t i = 0; i < events.size; ++i) {
            if (static_cast<EventKind>(events.kind[i]) != EventKind::api) continue;
            const auto correlation = static_cast<CorrelationId>(events.correlation[i]);
            const auto place = sources_.place(correlation);
            if (place == Numbers::kNone) continue;
            const TimeNs start = events.start_ns[i], end = start + events.dur_ns[i];
            auto& call = calls_[place];
            const bool first =
                call.correlation == 0 ||
                (call.track == track.id && std::tie(start, end) < std::tie(call.start_ns, call.end_ns));
            if (first)
              call = {start, end, correlation, StringId{static_cast<std::uint32_t>(events.name[i])},
                      track.id};
          }
          return true;
        });
    PITWALL_TRY(status);
  }
  return {};
}

Status LaunchIndex::loadOperators(Trace& trace) {
  std::vector<CorrelationId> calls;
  for (const HostCall& call : calls_) {
    if (call.correlation != 0) calls.push_back(call.correlation);
  }
  if (calls.empty()) return {};
  operators_.assign(calls_.size(), 0);
  return trace.visitDependencies({calls}, [&](std::span<const Dependency> dependencies) {
    for (const auto& dependency : dependencies) {
      const auto place =
          dependency.kind == DependencyKind::launch ? sources_.place(dependency.target) : Numbers::kNone;
      if (place != Numbers::kNone && calls_[place].correlation != 0) operators_[place] = dependency.source;
    }
    return true;
  });
}

const HostCall* LaunchIndex::find(CorrelationId correlation) const {
  if (correlation == 0) return nullptr;
  const auto place = work_.place(correlation);
  if (place == Numbers::kNone || launch_[place] == Numbers::kNone) return nullptr;
  return &calls_[launch_[place]];
}

}  // namespace pitwall::analysis
