#include "tests/support/trace_text.h"

#include <fmt/core.h>

#include <charconv>
#include <map>
#include <sstream>
#include <vector>

#include "db/store.h"
#include "db/try.h"
#include "tests/support/trace_words.h"

namespace pitwall::test {
namespace {

class Writer {
 public:
  explicit Writer(TraceSink& sink) : sink_(sink) {
    process_ = sink.process({.pid = 100, .name = "program", .command_line = "program"});
    track("main");
  }

  Status run(const std::vector<Line>& lines) {
    for (std::size_t i = 0; i < lines.size() && complaint_.empty(); ++i) {
      line_ = lines[i].number;
      if (lines[i].words[0] != "repeat") {
        one(lines[i]);
        continue;
      }
      std::size_t end = i + 1;
      while (end < lines.size() && lines[end].words[0] != "end") ++end;
      const auto count = integer(at(lines[i].words, 1));
      const TimeNs period = time(at(lines[i].words, 2));
      for (repetition_ = 0; repetition_ < count; ++repetition_) {
        for (std::size_t inside = i + 1; inside < end; ++inside) one(lines[inside]);
        offset_ += period;
      }
      i = end;
      offset_ = repetition_ = 0;
    }
    for (auto& [name, events] : events_) sink_.events(tracks_[name], events);
    for (auto& [id, samples] : samples_) sink_.counters(TrackId{id}, samples);
    sink_.dependencies(dependencies_);
    if (!complaint_.empty()) return fail(ErrorCode::invalidInput, complaint_);
    return incomplete_ ? sink_.flush() : sink_.finish();
  }

 private:
  void reportError(const std::string& what) {
    if (complaint_.empty()) complaint_ = fmt::format("line {}: {}", line_, what);
  }

  const std::string& at(const Words& words, std::size_t index) {
    static const std::string kNone;
    if (index < words.size()) return words[index];
    reportError("a word is missing");
    return kNone;
  }

  std::int64_t integer(const std::string& word) {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) reportError(word + " is not an integer");
    return value;
  }

  // Without the offset of a repetition.
  TimeNs time(const std::string& list) {
    const std::string word = entryOf(list);
    double value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const std::string unit(stop, word.data() + word.size());
    static const std::map<std::string, double> kUnits{
        {"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const auto found = kUnits.find(unit);
    if (error != std::errc() || found == kUnits.end()) return reportError(word + " is not a time"), 0;
    return static_cast<TimeNs>(value * found->second + 0.5);
  }
  TimeNs moment(const std::string& word) { return offset_ + time(word); }

  TrackId track(const std::string& name, std::int64_t rank = 0) {
    auto& id = tracks_[name];
    if (!id) {
      const ProcessId process = processOf(rank);
      if (name.find(" asynchronous") == std::string::npos)
        threads_[name] = sink_.thread({process, 100 + static_cast<std::int64_t>(tracks_.size()), name});
      id = sink_.track({TrackKind::thread, process, threads_[name], DeviceId{}, name, ""});
    }
    return id;
  }

  SettingSource source(const std::string& word) {
    for (const auto known : {SettingSource::byDefault, SettingSource::environment, SettingSource::program}) {
      if (word == toString(known)) return known;
    }
    reportError(word + " is not a source of a setting");
    return SettingSource::byDefault;
  }

  void one(const Line& line) {
    line_ = line.number;
    const auto& w = line.words;
    const auto text = [&](std::size_t index) { return at(w, index) == "-" ? std::string() : at(w, index); };
    if (w[0] == "meta") {
      std::string value = at(w, 2);
      for (std::size_t i = 3; i < w.size(); ++i) value += " " + w[i];
      sink_.meta(at(w, 1), value);
    } else if (w[0] == "setting") {
      sink_.setting({at(w, 1), text(2), source(at(w, 3))});
    } else if (w[0] == "tunable") {
      sink_.tunable({at(w, 1), integer(at(w, 2)), integer(at(w, 2)), integer(at(w, 3)), integer(at(w, 4)),
                     source(at(w, 5))});
    } else if (w[0] == "iteration") {
      sink_.iteration({next_iteration_++, moment(at(w, 1)), integer(at(w, 2))});
    } else if (w[0] == "op") {
      operatorRun(w, text(1));
    } else if (w[0] == "span") {
      span(w);
    } else if (w[0] == "work") {
      work(w);
    } else if (w[0] == "call" || w[0] == "range") {
      named(w);
    } else if (w[0] == "counter") {
      counter(w);
    } else if (w[0] == "stack") {
      stack(w);
    } else if (w[0] == "loss") {
      sink_.loss({TrackId{}, moment(at(w, 1)), moment(at(w, 2)), integer(at(w, 3)), spaced(at(w, 4))});
    } else if (w[0] == "incomplete") {
      incomplete_ = true;
    } else {
      reportError("unknown word " + w[0]);
    }
  }

  void operatorRun(const Words& w, const std::string& layer) {
    Event event;
    event.start_ns = moment(at(w, 4));
    event.dur_ns = time(at(w, 5));
    event.correlation = ++correlation_;
    event.kind = EventKind::operatorRun;
    OperatorFacts facts;
    facts.name = at(w, 2);
    facts.layer = layer;
    facts.dtype = "float32";
    for (const auto phase : {Phase::forward, Phase::backward, Phase::update, Phase::data}) {
      if (at(w, 3) == toString(phase)) facts.phase = phase;
    }
    event.pushed_ns = event.start_ns;
    std::string on = "cpu worker 0";
    std::int64_t rank = 0;
    for (std::size_t i = 6; i < w.size(); ++i) {
      const auto equals = w[i].find('=');
      const std::string key = w[i].substr(0, equals),
                        value = equals == std::string::npos ? "" : w[i].substr(equals + 1);
      if (key == "pushed") {
        event.pushed_ns = moment(value);
      } else if (key == "on") {
        on = spaced(value);
      } else if (key == "after") {
        for (const auto& before : entriesOf(value))
          dependencies_.push_back({layers_[before], event.correlation, DependencyKind::readAfterWrite});
      } else if (key == "rank") {
        rank = integer(value);
      } else if (key == "flop") {
        facts.flop = integer(value);
      } else if (key == "read") {
        facts.bytes_read = integer(value);
      } else if (key == "written") {
        facts.bytes_written = integer(value);
      } else if (key == "shapes") {
        facts.shapes = value;
      } else if (key == "dtype") {
        facts.dtype = value;
      } else if (key == "backend") {
        facts.backend = value;
      } else if (key == "impl") {
        facts.implementation = blanks(value);
      } else {
        reportError("unknown option " + w[i]);
      }
    }
    event.ready_ns = event.pushed_ns;
    event.op = sink_.operatorFacts(facts);
    event.name = sink_.string(facts.name);
    if (rank != 0) on += " of rank " + std::to_string(rank);
    layers_[layer] = event.correlation;
    track(on, rank);
    events_[on].push_back(event);
  }

  ProcessId processOf(std::int64_t rank) {
    if (rank == 0) return process_;
    auto& id = ranks_[rank];
    if (!id)
      id = sink_.process(
          {.pid = 100 + rank, .name = "program", .command_line = "program", .rank = static_cast<int>(rank)});
    return id;
  }

  TrackId streamTrack(const std::string& key, const Words& w) {
    auto& id = tracks_[key];
    if (id) return id;
    const auto gpu = integer(option(w, "gpu", "0"));
    const auto process = processOf(integer(option(w, "rank", "0")));
    auto& device = devices_[key.substr(0, key.find(" stream"))];
    if (!device) device = sink_.device({"gpu", static_cast<int>(gpu), "test gpu", 16'000'000'000});
    return id = sink_.track({TrackKind::stream, process, ThreadId{}, device, key, ""});
  }

  Event eventOf(const Words& w, EventKind kind, std::size_t name) {
    Event event;
    event.kind = kind;
    event.name = sink_.string(blanks(at(w, name)));
    event.start_ns = moment(at(w, name + 1));
    event.dur_ns = time(at(w, name + 2));
    event.pushed_ns = event.ready_ns = event.start_ns;
    return event;
  }

  void work(const Words& w) {
    const std::string kind = at(w, 1);
    Event event = eventOf(w,
                          kind == "copy"            ? EventKind::copy
                          : kind == "communication" ? EventKind::communication
                                                    : EventKind::kernel,
                          2);
    event.value = integer(option(w, "bytes", "0"));
    if (const auto args = option(w, "args", ""); !args.empty()) event.args = sink_.string(args);
    if (const auto grid = option(w, "grid", ""); !grid.empty()) {
      event.kernel =
          sink_.kernelFacts({.grid = {static_cast<std::int32_t>(integer(grid)), 1, 1}, .block = {256, 1, 1}});
    }
    event.correlation = ++correlation_;
    const auto launch = option(w, "launch", "");
    if (launch == "last") {
      dependencies_.push_back({last_launch_, event.correlation, DependencyKind::launch});
    } else if (!launch.empty()) {
      Event call = event;
      call.kind = EventKind::api;
      call.kernel = {};
      call.args = {};
      call.value = 0;
      call.name = sink_.string(option(w, "api", kind == "copy" ? "cudaMemcpyAsync" : "cudaLaunchKernel"));
      call.start_ns = call.pushed_ns = call.ready_ns = moment(launch);
      call.dur_ns = time(option(w, "call", "5us"));
      call.correlation = last_launch_ = ++correlation_;
      dependencies_.push_back({call.correlation, event.correlation, DependencyKind::launch});
      if (!option(w, "of", "").empty())
        dependencies_.push_back({layers_[option(w, "of", "")], call.correlation, DependencyKind::launch});
      events_[callTrack(spaced(option(w, "calls", "main")))].push_back(call);
    }
    const std::string key = "rank " + option(w, "rank", "0") + " gpu " + option(w, "gpu", "0") + " stream " +
                            option(w, "stream", "7");
    streamTrack(key, w);
    events_[key].push_back(event);
  }

  // Where the calls of a thread are: "calls of X" is a second track of the thread X.
  std::string callTrack(const std::string& on) {
    constexpr std::string_view kOf = "calls of ";
    if (on.rfind(kOf, 0) != 0 || tracks_[on]) return track(on), on;
    track(on.substr(kOf.size()));
    tracks_[on] =
        sink_.track({TrackKind::thread, process_, threads_[on.substr(kOf.size())], DeviceId{}, on, ""});
    return on;
  }

  void named(const Words& w) {
    Event event = eventOf(w, w[0] == "call" ? EventKind::api : EventKind::scope, 1);
    std::string on = spaced(option(w, "on", "main"));
    if (const auto gpu = option(w, "gpu", ""); !gpu.empty()) {
      on = "rank 0 gpu " + gpu + " stream annotations";
      streamTrack(on, w);
    } else {
      callTrack(on);
    }
    events_[on].push_back(event);
  }

  ProcessId processNamed(const std::string& name) {
    if (name.empty()) return process_;
    auto& id = named_processes_[name];
    if (!id) {
      pids_[name] = 2000 + static_cast<std::int64_t>(named_processes_.size());
      id = sink_.process({.pid = pids_[name], .name = name, .command_line = name});
    }
    return id;
  }

  std::int64_t pidOf(ProcessId process) const {
    for (const auto& [name, id] : named_processes_) {
      if (id == process) return pids_.at(name);
    }
    return 100;
  }

  TrackId counterTrack(const Words& w, const std::string& name, const std::string& unit) {
    const std::string on = spaced(option(w, "on", "")), within = spaced(option(w, "within", ""));
    const std::string of = option(w, "of", "");
    auto& id = counters_[name + "@" + on + "@" + of + "@" + within];
    if (id) return id;
    const ProcessId process = processNamed(of);
    ThreadId thread;
    if (!within.empty()) {
      track(within);
      thread = threads_[within];
    } else if (!on.empty()) {
      auto& known = counted_threads_[on + "@" + of];
      if (!known) {  // one called "main" is the first of its process
        const std::int64_t tid =
            on == "main" ? pidOf(process) : 1000 + static_cast<std::int64_t>(counted_threads_.size());
        known = sink_.thread({process, tid, on});
      }
      thread = known;
    }
    return id = sink_.track({TrackKind::counter, process, thread, DeviceId{}, name, unit});
  }

  // The repetition's entry of "a|b|c".
  std::string entryOf(const std::string& list) {
    const Words entries = entriesOf(list);
    if (entries.empty()) return reportError("a value is missing"), "";
    return entries[static_cast<std::size_t>(repetition_) % entries.size()];
  }

  void counter(const Words& w) {
    const TrackId id = counterTrack(w, blanks(at(w, 1)), at(w, 2) == "-" ? "" : at(w, 2));
    double value = 0;
    const std::string word = entryOf(at(w, 4));
    if (std::from_chars(word.data(), word.data() + word.size(), value).ec != std::errc())
      return reportError(word + " is not a number");
    samples_[id.value].push_back({moment(at(w, 3)), value});
  }

  void stack(const Words& w) {
    const TrackId id = counterTrack(w, "stack", kStackUnit);
    StackId innermost;
    std::istringstream frames(entryOf(at(w, 2)));
    for (std::string frame; std::getline(frames, frame, ';');) {
      const std::size_t at = frame.find('@');
      const std::string file = at == frame.npos ? "program" : frame.substr(at + 1);
      innermost = sink_.stack({innermost, sink_.frame({blanks(frame.substr(0, at)), file, 0, "native"})});
    }
    samples_[id.value].push_back({moment(at(w, 1)), static_cast<double>(innermost.value)});
  }

  void span(const Words& w) {
    Event event;
    event.start_ns = event.pushed_ns = event.ready_ns = moment(at(w, 2));
    event.dur_ns = time(at(w, 3));
    bool known = false;
    for (const auto kind : {EventKind::bulk, EventKind::scope, EventKind::wait, EventKind::dataWait,
                            EventKind::dataWork, EventKind::communication, EventKind::recorder}) {
      if (at(w, 1) == toString(kind)) event.kind = kind, known = true;
    }
    if (!known) reportError("unknown kind of span " + at(w, 1));
    const std::int64_t rank = integer(option(w, "rank", "0"));
    std::string on = spaced(option(w, "on", "main"));
    if (rank != 0) on += " of rank " + std::to_string(rank);
    event.name = sink_.string(blanks(option(w, "name", at(w, 1))));
    event.value = std::atoll(option(w, "value", "0").c_str());
    track(on, rank);
    events_[on].push_back(event);
  }

  TraceSink& sink_;
  ProcessId process_;
  std::map<std::string, TrackId> tracks_;
  std::map<std::string, std::vector<Event>> events_;
  std::map<std::int64_t, ProcessId> ranks_;
  std::map<std::string, DeviceId> devices_;
  std::map<std::string, TrackId> counters_;
  std::map<std::string, ThreadId> threads_;          // with events
  std::map<std::string, ThreadId> counted_threads_;  // with counters alone
  std::map<std::string, ProcessId> named_processes_;
  std::map<std::string, std::int64_t> pids_;  // of named_processes_
  std::map<std::uint32_t, std::vector<CounterSample>> samples_;
  std::vector<Dependency> dependencies_;
  CorrelationId correlation_ = 0;
  std::map<std::string, CorrelationId> layers_;  // the last operator of each
  CorrelationId last_launch_ = 0;                // the call that the last launch= added
  std::int64_t next_iteration_ = 0, repetition_ = 0;
  TimeNs offset_ = 0;
  bool incomplete_ = false;
  int line_ = 0;
  std::string complaint_;
};

}  // namespace

Status writeTraceText(std::string_view text, TraceSink& sink) { return Writer(sink).run(split(text)); }

Status makeTraceFile(std::string_view text, const std::string& path) {
  auto sink = PITWALL_TRY(createTrace(path));
  return writeTraceText(text, *sink);
}

}  // namespace pitwall::test
