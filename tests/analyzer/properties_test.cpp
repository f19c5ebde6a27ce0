// What holds of every analysis, over random traces: the parts sum to the whole, the dependency graph replays
// the recorded time, gains share one budget, and nothing depends on the order of rows or on how many are
// shown.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "analyzer/analysis.h"
#include "analyzer/emit.h"
#include "analyzer/rules/budget.h"
#include "db/meta.h"
#include "db/reader.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test {
namespace {

// An event as a program would write it: with words instead of ids.
struct WrittenEvent {
  std::string thread, stream;  // one of both
  Event event;
  std::string name;
  OperatorFacts op;  // of operators
};

struct Story {
  std::vector<WrittenEvent> events;
  std::vector<Dependency> dependencies;
  std::vector<IterationMark> marks;
};

class Author {
 public:
  explicit Author(unsigned seed) : random_(seed) {}

  // Operators of `layers` layers on two workers, kernels on two streams with their launches, waits and
  // copies.
  Story write(int iterations, int layers) {
    for (int i = 0; i < iterations; ++i) {
      if (iterations > 1) story_.marks.push_back({i, now_, 32});
      wait();
      std::vector<CorrelationId> ran;
      for (int layer = 0; layer < layers; ++layer) runOperator(layer, layers, ran);
      for (int k = 0; k < layers; ++k) runKernel(k);
      now_ = std::max({now_, worker_free_[0], worker_free_[1]}) + pick(20'000);
    }
    return std::move(story_);
  }

 private:
  TimeNs pick(TimeNs below) { return static_cast<TimeNs>(random_() % static_cast<std::uint64_t>(below)); }

  void wait() {
    if (pick(2) == 0) return;
    const TimeNs length = 1000 + pick(30'000);
    add({"main", "", {.start_ns = now_, .dur_ns = length, .kind = EventKind::dataWait}, "wait", {}});
    now_ += length;
  }

  void runOperator(int layer, int layers, std::vector<CorrelationId>& ran) {
    const auto worker = static_cast<std::size_t>(pick(2));
    TimeNs ready = now_;
    Event event{.correlation = ++correlation_, .kind = EventKind::operatorRun};
    for (int d = 0; d < 2 && !ran.empty(); ++d) {
      const auto source = ran[static_cast<std::size_t>(pick(static_cast<TimeNs>(ran.size())))];
      story_.dependencies.push_back({source, event.correlation});
      ready = std::max(ready, ends_[source]);
    }
    event.start_ns = std::max(ready, worker_free_[worker]) + (pick(3) == 0 ? pick(5000) : 0);
    event.dur_ns = 500 + pick(20'000);
    event.pushed_ns = event.start_ns - pick(8000);
    event.ready_ns = event.start_ns;
    worker_free_[worker] = ends_[event.correlation] = event.start_ns + event.dur_ns;
    ran.push_back(event.correlation);
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = fmt::format("layer{}", layer);
    facts.phase = layer < layers / 2 ? Phase::forward : Phase::backward;
    facts.flop = 1000 * (layer + 1);
    add({fmt::format("cpu worker {}", worker), "", event, "Convolution", facts});
  }

  void runKernel(int k) {
    const TimeNs launched = now_ + k * 3000 + pick(2000);
    Event call{.start_ns = launched, .dur_ns = 1000, .correlation = ++correlation_, .kind = EventKind::api};
    const EventKind kinds[] = {EventKind::kernel, EventKind::kernel, EventKind::copy,
                               EventKind::communication};
    const char* names[] = {"gemm", "relu", "Memcpy HtoD (Pageable -> Device)", "ncclAllReduce"};
    const auto kind = static_cast<std::size_t>(pick(4));
    auto& free = stream_free_[kind == 3];
    Event work{.start_ns = std::max(free, launched + 1500),
               .dur_ns = 300 + pick(9000),
               .correlation = ++correlation_,
               .value = kind < 2 ? 0 : 4096,
               .kind = kinds[kind]};
    free = work.start_ns + work.dur_ns;
    story_.dependencies.push_back({call.correlation, work.correlation, DependencyKind::launch});
    add({"main", "", call, "cudaLaunchKernel", {}});
    add({"", kind == 3 ? "stream 2" : "stream 1", work, names[kind], {}});
  }

  void add(WrittenEvent written) {
    if (written.event.kind != EventKind::operatorRun)
      written.event.pushed_ns = written.event.ready_ns = written.event.start_ns;
    story_.events.push_back(std::move(written));
  }

  std::mt19937_64 random_;
  Story story_;
  TimeNs now_ = 1000;
  TimeNs worker_free_[2] = {}, stream_free_[2] = {};
  CorrelationId correlation_ = 0;
  std::map<CorrelationId, TimeNs> ends_;
};

// Writes the story in the order that the generator of random numbers gives its rows: tracks, facts, strings,
// dependencies and portions of events.
void writeStory(Story story, unsigned order, const std::string& path) {
  std::mt19937 random(order);
  const auto shuffle = [&](auto& list) {
    if (order > 0) std::shuffle(list.begin(), list.end(), random);
  };
  shuffle(story.events);
  shuffle(story.dependencies);
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  auto& out = *sink.value();
  const auto process = out.process({.pid = 1, .name = "program", .command_line = "program"});
  const auto device = out.device({"gpu", 0, "Some GPU", 1 << 30});
  out.meta(meta::kProducer, "pitwall test");
  out.meta(meta::kUsableCpus, "2");
  out.meta(meta::kOpenMpThreads, "2");
  for (const auto& mark : story.marks) out.iteration(mark);
  std::map<std::string, TrackId> tracks;
  std::vector<std::pair<TrackId, std::vector<Event>>> portions;
  std::map<TrackId, std::size_t> open;
  std::int64_t tid = 1;
  for (auto& written : story.events) {
    auto& track = tracks[written.thread + written.stream];
    if (!track) {
      track = written.stream.empty()
                  ? out.track({TrackKind::thread,
                               process,
                               out.thread({process, tid++, written.thread}),
                               {},
                               written.thread,
                               ""})
                  : out.track({TrackKind::stream, process, {}, device, written.stream, ""});
    }
    written.event.name = out.string(written.name);
    if (written.event.kind == EventKind::operatorRun) written.event.op = out.operatorFacts(written.op);
    const auto [place, is_new] = open.try_emplace(track, portions.size());
    if (is_new || portions[place->second].second.size() >= 40) {
      place->second = portions.size();
      portions.emplace_back(track, std::vector<Event>());
    }
    portions[place->second].second.push_back(written.event);
  }
  for (const auto& [track, events] : portions) {
    out.events(track, events);
    if (order % 3 == 1) {
      ASSERT_TRUE(out.flush().has_value());
    }
  }
  out.dependencies(story.dependencies);
  ASSERT_TRUE(out.finish().has_value());
}

struct Analyzed {
  std::unique_ptr<Trace> trace;
  Report report;

  SqlRows rows(const std::string& sql) const {
    auto rows = trace->query(sql);
    EXPECT_TRUE(rows.has_value()) << sql << ": " << (rows.has_value() ? "" : rows.error().message);
    return rows.has_value() ? rows.value() : SqlRows{};
  }
  std::int64_t number(const std::string& sql) const {
    const auto answer = rows(sql);
    if (answer.rows.empty()) return -1;
    const auto* value = std::get_if<std::int64_t>(&answer.rows[0][0]);
    return value != nullptr ? *value : -1;
  }
};

// Every row of every table that the analyses wrote.
std::string tablesOf(const Analyzed& a) {
  std::string text;
  const auto names = a.rows(
      "SELECT name FROM sqlite_temp_master WHERE type = 'table' AND name LIKE 'analysis%' ORDER BY name");
  EXPECT_GE(names.rows.size(), 20U);
  for (const auto& name : names.rows) {
    const auto& table = std::get<std::string>(name[0]);
    text += table + "\n";
    for (const auto& row : a.rows("SELECT * FROM temp." + table).rows) {
      for (const auto& value : row) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) text += fmt::format("{},", *integer);
        if (const auto* real = std::get_if<double>(&value)) text += fmt::format("{},", *real);
        if (const auto* word = std::get_if<std::string>(&value)) text += *word + ",";
        if (std::holds_alternative<std::monostate>(value)) text += "null,";
      }
      text += "\n";
    }
  }
  return text;
}

Analyzed analyzed(const std::string& path, std::size_t evidence_rows = 5, std::size_t events_at_once = 0) {
  Analyzed result;
  auto trace = Trace::open(path);
  EXPECT_TRUE(trace.has_value());
  result.trace = std::move(trace).value();
  AnalyzeOptions options;
  options.rule_folders = {PITWALL_RULE_FOLDER};
  options.evidence_rows = evidence_rows;
  options.events_at_once = events_at_once;
  auto report = analyzeTrace(*result.trace, options);
  EXPECT_TRUE(report.has_value()) << (report.has_value() ? "" : report.error().message);
  result.report = std::move(report).value();
  result.report.trace_path = "trace";
  return result;
}

TEST(Properties, EveryAnalysisSumsToItsWhole) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const auto path = folder / fmt::format("{}.pitwall", seed);
    const auto story = Author(seed).write(6 + static_cast<int>(seed), 12);
    writeStory(story, 0, path);
    const auto a = analyzed(path);
    EXPECT_EQ(
        a.number(
            "SELECT count(*) FROM analysis_iteration WHERE dur_ns <> forward_ns + backward_ns + update_ns "
            "+ other_operators_ns + communication_ns + data_wait_ns + engine_overhead_ns + idle_ns + "
            "unattributed_ns"),
        0);
    EXPECT_EQ(
        a.number("SELECT count(*) FROM analysis_device WHERE span_ns <> computation_ns + communication_ns + "
                 "copies_ns + data_wait_ns + synchronisation_ns + host_wait_ns + kernel_wait_ns + idle_ns OR "
                 "span_ns <> busy_ns + all_idle_ns"),
        0);
    EXPECT_EQ(a.number("SELECT count(*) FROM analysis_device"), 1);
    TimeNs parts = 0;
    for (const auto& part : a.report.breakdown.shares) parts += part.total_ns;
    EXPECT_EQ(parts, a.report.breakdown.wall_ns);
    EXPECT_EQ(a.number("SELECT count(*) FROM (SELECT total(share) AS whole FROM analysis_critical) WHERE "
                       "abs(whole - 1) < 1e-9"),
              1)
        << "the path is as long as the iterations that it crosses";
    // The events themselves are the independent check.
    std::map<std::string, TimeNs> totals;
    for (const auto& written : story.events) totals[written.name] += written.event.dur_ns;
    for (const auto& [name, total] : totals)
      EXPECT_EQ(a.number(fmt::format("SELECT sum(total_ns) FROM analysis_name WHERE name = '{}'", name)),
                total);
    EXPECT_EQ(a.number("SELECT sum(count) FROM analysis_name"),
              static_cast<std::int64_t>(story.events.size()));
    EXPECT_EQ(a.number("SELECT sum(count) FROM analysis_call"),
              totals.count("cudaLaunchKernel") == 0 ? -1
                                                    : a.number("SELECT sum(count) FROM analysis_name "
                                                               "WHERE name = 'cudaLaunchKernel'"));
  }
}

// The recorded graph with the recorded durations: an operator starts when it did, or when the last of what it
// waits for ends, whichever is later. `late` ends by `by` later than it did.
struct Run {
  TimeNs start = 0, end = 0;
  std::vector<std::size_t> before;
};
TimeNs replay(const std::vector<Run>& runs, std::size_t late, TimeNs by) {
  std::vector<TimeNs> ends(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    TimeNs start = runs[i].start;
    for (const auto before : runs[i].before) start = std::max(start, ends[before]);
    ends[i] = start + runs[i].end - runs[i].start + (i == late ? by : 0);
  }
  return *std::max_element(ends.begin(), ends.end());
}

std::vector<Run> graphOf(const Story& story, std::vector<const WrittenEvent*>& operators) {
  for (const auto& written : story.events) {
    if (written.event.kind == EventKind::operatorRun) operators.push_back(&written);
  }
  std::sort(operators.begin(), operators.end(), [](const WrittenEvent* a, const WrittenEvent* b) {
    return a->event.start_ns < b->event.start_ns;
  });
  std::map<CorrelationId, std::size_t> index;
  std::map<std::string, std::size_t> last;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const auto& event = operators[i]->event;
    runs.push_back({event.start_ns, event.start_ns + event.dur_ns, {}});
    for (const auto& dependency : story.dependencies) {
      if (dependency.target == event.correlation) runs.back().before.push_back(index.at(dependency.source));
    }
    if (last.count(operators[i]->thread) != 0) runs.back().before.push_back(last[operators[i]->thread]);
    last[operators[i]->thread] = i;
    index[event.correlation] = i;
  }
  return runs;
}

TEST(Properties, TheCriticalPathReplaysTheRecordedTimeAndSlackIsExact) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const auto path = folder / fmt::format("{}.pitwall", seed);
    const auto story = Author(seed).write(1, 30);  // each layer once, so that its slack is one execution's
    writeStory(story, 0, path);
    const auto a = analyzed(path);
    std::vector<const WrittenEvent*> operators;
    const auto runs = graphOf(story, operators);
    const TimeNs end = replay(runs, runs.size(), 0);
    TimeNs recorded_end = 0;
    for (const auto& run : runs) recorded_end = std::max(recorded_end, run.end);
    ASSERT_EQ(end, recorded_end) << "replayed unchanged";
    // Before the first operator and after the last one nothing ran that the path could cross.
    const auto outside = a.number("SELECT dur_ns FROM analysis_iteration") - (end - runs.front().start);
    EXPECT_GE(outside, 0);
    EXPECT_EQ(a.number("SELECT sum(on_path_ns) FROM analysis_critical"), end - runs.front().start + outside)
        << "the longest path with its gaps is the whole time";
    EXPECT_GE(
        a.number(
            "SELECT sum(on_path_ns) FROM analysis_critical WHERE title IN ('nothing', 'engine overhead')"),
        outside);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto slack =
          a.number(fmt::format("SELECT slack_min_ns FROM analysis_critical WHERE title = '{} Convolution'",
                               operators[i]->op.layer));
      ASSERT_GE(slack, 0) << operators[i]->op.layer;
      EXPECT_EQ(replay(runs, i, slack), end) << operators[i]->op.layer << " may end so much later";
      EXPECT_EQ(replay(runs, i, slack + 1), end + 1)
          << operators[i]->op.layer << " but not a nanosecond more";
    }
    EXPECT_EQ(
        a.number("SELECT count(*) FROM analysis_critical WHERE slack_min_ns = 0 AND on_path_ns > 0") > 0,
        true);
  }
}

TEST(Properties, NothingDependsOnTheOrderOfRows) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto story = Author(seed).write(8, 12);
    const auto path = folder / "a.pitwall";
    writeStory(story, 0, path);
    const auto expected = reportAsJson(analyzed(path).report);
    for (unsigned order = 1; order <= 3; ++order) {
      SCOPED_TRACE(fmt::format("seed {}, order {}", seed, order));
      const auto shuffled = folder / fmt::format("{}-{}.pitwall", seed, order);
      writeStory(story, order, shuffled);
      EXPECT_EQ(reportAsJson(analyzed(shuffled).report), expected);
    }
  }
}

TEST(Properties, NothingDependsOnHowManyRowsAreShown) {
  const TempFolder folder;
  const auto path = folder / "a.pitwall";
  writeStory(Author(7).write(12, 16), 0, path);
  auto few = analyzed(path, 1).report, many = analyzed(path, 1000).report;
  ASSERT_FALSE(many.findings.empty());
  for (auto* report : {&few, &many}) {
    for (auto& finding : report->findings) {
      EXPECT_LE(finding.evidence.rows.size(), static_cast<std::size_t>(finding.evidence.total_rows));
      if (report == &many) {
        EXPECT_EQ(finding.evidence.rows.size(), static_cast<std::size_t>(finding.evidence.total_rows));
      }
      finding.evidence.rows.clear();
    }
  }
  EXPECT_EQ(reportAsJson(few), reportAsJson(many));
}

TEST(Properties, NothingDependsOnHowManyEventsAreReadAtATime) {
  const TempFolder folder;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    auto story = Author(seed).write(8, 12);
    if (seed % 2 == 0) story.marks.clear();  // iterations are found from the sequence of operators
    const auto path = folder / fmt::format("{}.pitwall", seed);
    writeStory(story, seed, path);
    const auto whole = analyzed(path);
    const auto tables = tablesOf(whole);
    for (const std::size_t at_once : {1, 7, 40, 150}) {
      SCOPED_TRACE(fmt::format("seed {}, {} at once", seed, at_once));
      const auto chunked = analyzed(path, 5, at_once);
      EXPECT_EQ(tablesOf(chunked), tables);
      EXPECT_EQ(reportAsJson(chunked.report), reportAsJson(whole.report));
    }
  }
}

TEST(Properties, AnAnalysisThatIsAskedToStopSaysSo) {
  const TempFolder folder;
  const auto path = folder / "a.pitwall";
  writeStory(Author(1).write(4, 8), 0, path);
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  std::atomic<bool> cancel = false;
  AnalyzeOptions options;
  options.rule_folders = {PITWALL_RULE_FOLDER};
  options.cancel = &cancel;
  EXPECT_TRUE(analyzeTrace(**trace, options).has_value());
  cancel = true;
  const auto report = analyzeTrace(**trace, options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

std::vector<rules::Claim> randomClaims(std::mt19937& random, const Breakdown& breakdown) {
  std::uniform_real_distribution<double> share(-0.2, 1.2);
  std::vector<rules::Claim> claims;
  for (int i = 0; i < 12; ++i) {
    rules::Claim claim;
    claim.finding.id = fmt::format("rule/{}", i);
    claim.finding.gain_high = i == 11 ? std::numeric_limits<double>::quiet_NaN() : share(random);
    claim.finding.gain_low = share(random);
    claim.finding.confidence = static_cast<Confidence>(random() % 3);
    claim.finding.severity = static_cast<Severity>(random() % 4);
    for (int c = 0; c < 3; ++c)  // the same one twice, too, and one that is not there
      claim.categories.push_back(
          random() % 9 == 0 ? "nowhere" : breakdown.shares[random() % breakdown.shares.size()].category);
    claims.push_back(std::move(claim));
  }
  return claims;
}

TEST(Properties, GainsNeverExceedTheRemovableTime) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Breakdown breakdown;
    double left = 1;
    for (const char* category : {"forward", "backward", "data wait", "engine overhead", "idle"}) {
      const double part = left * static_cast<double>(random() % 100) / 100;
      breakdown.shares.push_back({category, 0, part});
      left -= part;
    }
    auto claims = randomClaims(random, breakdown);
    std::map<std::string, std::vector<std::string>> categories;
    std::map<std::string, double> predicted;
    for (const auto& claim : claims) {
      categories[claim.finding.id] = claim.categories;
      predicted[claim.finding.id] = claim.finding.gain_high;
    }
    const auto findings = rules::shareBudget(claims, breakdown);
    ASSERT_EQ(findings.size(), claims.size());
    // For every set of categories: findings that claim only these gain no more than the time in them.
    for (unsigned subset = 0; subset < 32; ++subset) {
      double available = 0, gained = 0;
      const auto within = [&](const std::string& category) {
        for (std::size_t c = 0; c < breakdown.shares.size(); ++c) {
          if (breakdown.shares[c].category == category) return (subset >> c & 1U) != 0;
        }
        return true;  // "nowhere" holds nothing
      };
      for (const auto& part : breakdown.shares) available += within(part.category) ? part.share : 0;
      for (const auto& finding : findings) {
        const auto& own = categories[finding.id];
        if (std::all_of(own.begin(), own.end(), within)) gained += finding.gain_high;
      }
      EXPECT_LE(gained, available + 1e-12) << "categories " << subset;
    }
    for (std::size_t i = 1; i < findings.size(); ++i) {
      EXPECT_GE(findings[i - 1].severity, findings[i].severity) << "a lower one is never above";
      if (findings[i - 1].severity == findings[i].severity) {
        EXPECT_GE(findings[i - 1].expected_gain, findings[i].expected_gain);
      }
    }
    for (const auto& finding : findings) {
      EXPECT_LE(finding.expected_gain, finding.gain_high);
      EXPECT_GE(finding.gain_low, 0);
      EXPECT_LE(finding.gain_low, finding.gain_high);
      if (predicted[finding.id] > 0) {
        EXPECT_LE(finding.gain_high, predicted[finding.id]);
      }
    }
    std::shuffle(claims.begin(), claims.end(), random);
    const auto again = rules::shareBudget(claims, breakdown);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      EXPECT_EQ(findings[i].id, again[i].id);
      EXPECT_EQ(findings[i].gain_high, again[i].gain_high);
    }
  }
}

}  // namespace
}  // namespace pitwall::test
