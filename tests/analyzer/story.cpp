#include "tests/analyzer/story.h"

#include <gtest/gtest.h>

#include "db/meta.h"
#include "db/store.h"

namespace pitwall::test {

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

SqlRows AnalyzedStory::rows(const std::string& sql) const {
  auto rows = trace->query(sql);
  EXPECT_TRUE(rows.has_value()) << sql << ": " << (rows.has_value() ? "" : rows.error().message);
  return rows.has_value() ? rows.value() : SqlRows{};
}

std::int64_t AnalyzedStory::number(const std::string& sql) const {
  const auto answer = rows(sql);
  if (answer.rows.empty()) return -1;
  const auto* value = std::get_if<std::int64_t>(&answer.rows[0][0]);
  return value != nullptr ? *value : -1;
}

AnalyzedStory analyzed(const std::string& path, std::size_t evidence_rows, std::size_t events_at_once) {
  AnalyzedStory result;
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

}  // namespace pitwall::test
