#include "analyzer/report_timeline.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/emit.h"
#include "analyzer/excerpt/lane_merger.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::report_timeline_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TimeNs kMs = 1'000'000;

// Ten iterations of 10 ms: two operators, a wait for data, and a kernel.
constexpr char kIterations[] =
    "repeat 10 10ms\n"
    "iteration 0 32\n"
    "op conv1 Convolution forward 1ms 3ms shapes=4x4\n"
    "op conv1 _backward_Convolution backward 4ms 4ms\n"
    "span data_wait 8ms 2ms\n"
    "work kernel gemm 5ms 1ms launch=4500us\n"
    "end\n"
    "iteration 100ms 0\n";

EvidencePlace range(TimeNs start, TimeNs dur, const std::string& device = "") {
  EvidencePlace place;
  place.start_ns = start;
  place.dur_ns = dur;
  place.device = device;
  return place;
}

EvidencePlace named(const std::string& name) {
  EvidencePlace place;
  place.name = name;
  return place;
}

class TimelineOf : public testing::Test {
 protected:
  void analyze(const std::string& text) {
    const Status made = test::makeTraceFile(text, path_);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    analyzeFile();
  }
  void analyzeFile() {
    trace_ = Trace::open(path_).value();
    report_ = analyzeTrace(*trace_, {.rule_folders = {}, .with_rules = false}).value();
  }
  ReportTimeline timeline(const ReportTimelineLimits& limits = {}) {
    auto read = reportTimeline(*trace_, report_, limits);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return read.has_value() ? std::move(read).value() : ReportTimeline{};
  }
  void addEvidence(const EvidencePlace& place) {
    Finding finding;
    finding.id = "some/finding";
    finding.title = "Some finding";
    finding.evidence = {{"what"}, {{"row"}}, 1, {place}};
    report_.findings.push_back(finding);
  }

  test::TempFolder folder_;
  std::string path_ = folder_ / "a.pitwall";
  std::unique_ptr<Trace> trace_;
  Report report_;
};

std::int64_t eventsOf(const ReportTimeline::Window& window) {
  std::int64_t sum = 0;
  for (const auto& lane : window.lanes)
    for (const auto& piece : lane.pieces) sum += piece.count;
  return sum;
}

const ReportTimeline::Window& homeOf(const ReportTimeline& timeline) {
  for (const auto& window : timeline.windows) {
    if (window.begin_ns == timeline.home_ns) return window;
  }
  return timeline.windows.at(0);
}

TEST_F(TimelineOf, ATypicalIterationHasItsEventsAndItsCriticalPath) {
  analyze(kIterations);
  const ReportTimeline timeline = this->timeline();
  EXPECT_EQ(timeline.title, "Timeline of a typical iteration");
  EXPECT_EQ(timeline.home_end_ns - timeline.home_ns, 10 * kMs);
  EXPECT_EQ(timeline.home_ns % (10 * kMs), 0);
  EXPECT_GE(timeline.home_ns, 20 * kMs) << "the first two are warm-up";
  EXPECT_LT(timeline.home_ns, 90 * kMs);
  ASSERT_EQ(timeline.windows.size(), 1u);
  std::vector<std::string> seen;
  for (const auto& lane : timeline.windows[0].lanes) {
    for (const auto& piece : lane.pieces) {
      if (piece.start_ns < timeline.home_ns) continue;  // of the iteration before
      const auto& item = timeline.items.at(piece.item);
      seen.push_back(fmt::format("{}: {}, {} at {} ms for {} ms", timeline.rows.at(lane.row).title, item.text,
                                 item.category, (piece.start_ns - timeline.home_ns) / kMs,
                                 piece.dur_ns / kMs));
    }
  }
  EXPECT_THAT(seen,
              testing::IsSupersetOf({"cpu worker 0: conv1 Convolution, forward at 1 ms for 3 ms",
                                     "cpu worker 0: conv1 _backward_Convolution, backward at 4 ms for 4 ms",
                                     "main: data_wait, data wait at 8 ms for 2 ms"}));
  TimeNs sum = 0;
  for (const auto& step : timeline.critical_path) sum += step.dur_ns;
  EXPECT_GT(timeline.critical_path.size(), 1u);
  EXPECT_NEAR(static_cast<double>(sum), 10.0 * kMs, 2.5 * kMs) << "steps at the ends may reach beyond it";
}

TEST_F(TimelineOf, WithoutIterationsItSaysWhichPartItShows) {
  analyze("call read 1ms 2ms\ncall write 5ms 1ms\n");
  const ReportTimeline timeline = this->timeline();
  EXPECT_EQ(timeline.title, "Timeline of the whole recording");
  EXPECT_THAT(timeline.explanation, HasSubstr("No steady iteration was found"));
  EXPECT_EQ(timeline.home_ns, timeline.begin_ns);
  EXPECT_EQ(timeline.home_end_ns, timeline.end_ns);
}

TEST_F(TimelineOf, ATraceWithoutEventsHasNone) {
  analyze("meta producer test\n");
  EXPECT_TRUE(timeline().empty());
  EXPECT_THAT(reportAsHtml(report_, {}, timeline()), Not(HasSubstr("timeline-data\">")));
}

TEST_F(TimelineOf, ShortEventsAreMergedAndNoneIsLost) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("call f{} {}us {}ns\n", i % 7, 10 * i, i % 50 == 0 ? 9000 : 300 + i % 11);
  analyze(text);
  const ReportTimeline all = timeline();
  EXPECT_EQ(eventsOf(homeOf(all)), 5000);
  const ReportTimeline few = timeline({.home_pieces = 300});
  std::size_t pieces = 0;
  for (const auto& lane : homeOf(few).lanes) pieces += lane.pieces.size();
  EXPECT_LE(pieces, 300u);
  EXPECT_EQ(eventsOf(homeOf(few)), 5000);
}

TEST_F(TimelineOf, AWindowOfTooManyEventsIsShortened) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += fmt::format("call f {}us 300ns\n", 10 * i);
  analyze(text);
  const ReportTimeline part = timeline({.window_events = 1000});
  EXPECT_LT(eventsOf(homeOf(part)), 1500);
  EXPECT_GT(eventsOf(homeOf(part)), 100);
  EXPECT_THAT(part.explanation, HasSubstr("in its middle"));
}

TEST_F(TimelineOf, EvidenceIsShownWhereItIs) {
  analyze(kIterations);
  addEvidence(range(3 * kMs, kMs, "gpu 0"));
  addEvidence(named("_backward_Convolution"));
  addEvidence(named("not in the trace"));
  addEvidence(range(5'000 * kMs, kMs));
  const ReportTimeline timeline = this->timeline();
  ASSERT_EQ(timeline.places.size(), 2u) << "neither an unknown name nor a time beyond the trace is a place";
  const auto& gap = timeline.places[0];
  EXPECT_EQ(gap.start_ns, 3 * kMs);
  EXPECT_EQ(gap.dur_ns, kMs);
  ASSERT_TRUE(gap.row.has_value());
  EXPECT_THAT(timeline.rows[*gap.row].title, HasSubstr("gpu 0"));
  const auto& longest = timeline.places[1];
  EXPECT_EQ(longest.finding, 1u);
  EXPECT_EQ(longest.start_ns, timeline.home_ns + 4 * kMs);
  EXPECT_EQ(longest.dur_ns, 4 * kMs);
  // What surrounds the place is on the page too, and windows do not overlap.
  TimeNs end = timeline.begin_ns;
  bool is_within = false;
  for (const auto& window : timeline.windows) {
    EXPECT_GE(window.begin_ns, end);
    end = window.end_ns;
    is_within |= window.begin_ns <= 3 * kMs && 4 * kMs <= window.end_ns;
  }
  EXPECT_TRUE(is_within);
  const std::string page = reportAsHtml(report_, {}, timeline);
  EXPECT_THAT(page, HasSubstr("data-place=\"1.1\""));
  EXPECT_THAT(page, HasSubstr("data-place=\"2.1\""));
  EXPECT_THAT(page, Not(HasSubstr("data-place=\"3.1\"")));
}

std::string dataIn(const std::string& page) {
  const std::string begin = "id=\"timeline-data\">";
  const auto at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_F(TimelineOf, ThePageStaysSmallAndNamesAreText) {
  const std::string nasty = "</script><script>x</script>\"'\\<!--\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAE&";
  {
    auto sink = createTrace(path_).value();
    const auto process = sink->process({1, nasty, nasty, 0});
    for (int t = 0; t < 120; ++t) {
      const auto thread = sink->thread({process, t + 1, fmt::format("{}{}", nasty, t)});
      std::vector<Event> events;
      for (int i = 0; i < 1500; ++i) {
        Event event;
        event.start_ns = event.pushed_ns = event.ready_ns = i * 1000 + t;
        event.dur_ns = 1 + (i * 7919 + t) % 999;
        event.name = sink->string(fmt::format("{} {} {}", nasty, t * 1500 + i, std::string(300, '<')));
        events.push_back(event);
      }
      sink->events(sink->track({TrackKind::thread, process, thread, {}, "", ""}), events);
    }
    ASSERT_TRUE(sink->finish().has_value());
  }
  analyzeFile();
  for (int i = 0; i < 100; ++i) {
    addEvidence(range(i * 1000, 500));
    report_.findings.back().evidence.rows = {{std::string(100'000, '<')}};
    report_.notes.push_back(std::string(100'000, '"'));
    report_.operators.push_back({});
    report_.operators.back().title = std::string(100'000, '&');
    report_.operators.back().self_ns = 1;
  }
  report_.code.tree = {{"", "", 0, 20'000}};
  for (int i = 0; i < 20'000; ++i)
    report_.code.tree.push_back({nasty + std::string(500, '<'), "python", 0, 1});
  for (std::size_t i = 1; i < 3'000; ++i) report_.code.tree.push_back({nasty, "python", i, 1});
  const ReportTimeline timeline = this->timeline();
  EXPECT_EQ(timeline.rows.size(), ReportTimelineLimits{}.rows);
  EXPECT_EQ(timeline.rows_left_out, 80);
  const std::string page = reportAsHtml(report_, {}, timeline);
  EXPECT_LT(page.size(), 2'000'000u);
  const std::string data = dataIn(page);
  EXPECT_GT(data.size(), 100'000u);
  for (const char* part : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAE"})
    EXPECT_THAT(data, Not(HasSubstr(part)));
  EXPECT_EQ(count(page, "<script"), 2u) << "the data and the page's script";
  EXPECT_EQ(count(page, "</script>"), 2u);
}

TEST(LaneMerger, TheOrderOfEventsDoesNotMatter) {
  std::vector<ReportTimeline::Piece> events;
  for (TimeNs i = 0; i < 200; ++i)
    events.push_back({(i * 37) % 200 * 10, 1 + (i * 11) % 30, static_cast<std::size_t>(i % 5), 1});
  const auto merged = [](const std::vector<ReportTimeline::Piece>& from) {
    excerpt::LaneMerger merger(0, 25);
    for (const auto& event : from) merger.add(event);
    merger.coarsen();
    std::vector<std::string> text;
    for (const auto& piece : merger.pieces())
      text.push_back(fmt::format("{} {} {} {}", piece.start_ns, piece.dur_ns, piece.item, piece.count));
    return text;
  };
  const auto forward = merged(events);
  std::reverse(events.begin(), events.end());
  EXPECT_EQ(merged(events), forward);
  EXPECT_LT(forward.size(), 60u);
}

}  // namespace
}  // namespace pitwall::report_timeline_test
