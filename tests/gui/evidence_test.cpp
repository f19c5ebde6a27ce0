// From a row of a finding's evidence to its place on the timeline: by a click, by the keyboard, by selecting the finding.
#include "gui/timeline/aggregate.h"
#include "tests/gui/viewer_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::evidence_test {
namespace {

constexpr TimeNs kUs = 1000, kMs = 1'000'000;

class EvidenceTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1300, 800);
    window_.show();
  }

  // A device with gaps of 100 us in each millisecond, one of 3 ms, and copies whose longest is in the first iteration.
  std::string deviceTrace() {
    const std::string path = folder_ / "device.pitwall";
    const auto status = test::makeTraceFile(
        "meta trace.producer PyTorch profiler (Kineto)\n"
        "repeat 20 1ms\n  iteration 0 32\n  work kernel gemm 0 600us\n  work copy Memcpy 2us 40us|5us|9us "
        "stream=9\n"
        "  op conv1 Convolution forward 10us 300us|200us|250us\n  span data_wait 600us 100us\nend\n"
        "work kernel last 22900us 500us\niteration 20ms 32\n",
        path);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return path;
  }
  void show(const EvidencePlace& place) {
    QSignalSpy shown(&window_, &MainWindow::evidenceShown);
    emit window_.findingsView().evidenceSelected(place);
    ASSERT_TRUE(shown.wait(kPatienceMs));
  }
  TimelineView& view() { return window_.timelineView(); }
  std::string nameOf(const EventRef& e) {
    return view().timeline()->name(view().timeline()->tracks[e.track].lanes[e.lane].name(e.index));
  }
  TimeNs durOf(const EventRef& e) { return view().timeline()->tracks[e.track].lanes[e.lane].durNs(e.index); }
};

TEST_F(EvidenceTest, AGapIsMarkedOnItsDeviceAndSelectedOnAllRows) {
  open(deviceTrace());
  EvidencePlace gap;
  gap.start_ns = 19'900 * kUs;
  gap.dur_ns = 3 * kMs;
  gap.device = "gpu 0";
  gap.rank = 0;
  show(gap);
  ASSERT_TRUE(view().marked().has_value());
  EXPECT_EQ(view().marked()->from, *gap.start_ns);
  EXPECT_EQ(view().marked()->to, *gap.start_ns + 3 * kMs);
  ASSERT_FALSE(view().marked()->tracks.empty());
  for (const std::size_t track : view().marked()->tracks) {
    EXPECT_EQ(view().timeline()->tracks[track].device, "gpu 0");
    EXPECT_EQ(view().timeline()->tracks[track].kind, TrackKind::stream);
    EXPECT_GE(view().rows().rowOfTrack(track), 0);
  }
  EXPECT_EQ(view().range()->from, *gap.start_ns);
  EXPECT_TRUE(view().range()->tracks.empty()) << "what others did meanwhile is summed";
  const View& shown = view().viewportModel().view();
  EXPECT_LE(shown.start_ns, static_cast<double>(*gap.start_ns));
  EXPECT_GE(shown.endNs(), static_cast<double>(*gap.start_ns + 3 * kMs));
  EXPECT_LT(shown.endNs() - shown.start_ns, 4e6) << "it fills the view";
}

// Of the real analysis: on what is shown for a gap no work of its device runs, and it does on either side.
TEST_F(EvidenceTest, EachRowOfTheGapsLeadsToItsGap) {
  open(deviceTrace());
  FindingsView& findings = window_.findingsView();
  const auto at = [&](int row) { return findings.findings().finding(findings.findings().index(row, 0)); };
  int gaps = -1;
  for (int row = 0; row < findings.findings().rowCount(); ++row) {
    if (at(row)->id == "gpu/idle" || at(row)->id == "gpu/long-gaps") gaps = row;
  }
  ASSERT_GE(gaps, 0);
  const auto& places = at(gaps)->evidence.places;
  ASSERT_GE(places.size(), 3U);
  const auto busy = [&](TimeNs from, TimeNs to) {
    const auto rows = aggregate(*view().timeline(), view().marked()->tracks, from, to);
    return !rows.empty();
  };
  QSignalSpy shown(&window_, &MainWindow::evidenceShown);
  emit findings.text().anchorClicked(QUrl("evidence:0"));
  findings.selectFinding(gaps);
  for (const std::size_t row : {0UL, 2UL, 1UL}) {
    if (row > 0) emit findings.text().anchorClicked(QUrl(QString("evidence:%1").arg(row)));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return view().range() && view().range()->from == places[row].start_ns; }, kPatienceMs));
    const TimeRange range = *view().range();
    EXPECT_EQ(range.to - range.from, places[row].dur_ns) << row;
    EXPECT_FALSE(busy(range.from, range.to)) << row;
    EXPECT_TRUE(busy(range.from - 1, range.from) && busy(range.to, range.to + 1)) << row;
  }
}

TEST_F(EvidenceTest, EventsOfANameAreMarkedAndTheLongestSteadyOneIsShown) {
  open(deviceTrace());
  EvidencePlace copies;
  copies.name = "Memcpy";
  copies.device = "gpu 0";
  show(copies);
  EXPECT_EQ(view().highlighted().size(), 20U);
  for (const EventRef& event : view().highlighted()) EXPECT_EQ(nameOf(event), "Memcpy");
  ASSERT_TRUE(view().selected().has_value());
  EXPECT_EQ(durOf(*view().selected()), 40 * kUs);
  const auto& lane = view().timeline()->tracks[view().selected()->track].lanes[view().selected()->lane];
  EXPECT_GE(lane.startNs(view().selected()->index), 2 * kMs) << "not in the first two iterations";
  EXPECT_FALSE(view().marked().has_value());
}

TEST_F(EvidenceTest, ExecutionsOfAnOperatorAreFoundByItsFacts) {
  open(deviceTrace());
  EvidencePlace conv;
  conv.op = 1;
  conv.name = "conv1 Convolution";  // no event is called so
  show(conv);
  EXPECT_EQ(view().highlighted().size(), 20U);
  ASSERT_TRUE(view().selected().has_value());
  EXPECT_EQ(nameOf(*view().selected()), "Convolution");
  EXPECT_EQ(durOf(*view().selected()), 300 * kUs);
}

TEST_F(EvidenceTest, AThreadIsRevealedAndGetsTheFocus) {
  open(deviceTrace());
  EvidencePlace thread;
  thread.thread = "main";
  const auto tracks = evidenceTracks(*view().timeline(), thread);
  ASSERT_EQ(tracks.size(), 1U);
  view().setRowFilter("gpu");
  ASSERT_LT(view().rows().rowOfTrack(tracks[0]), 0);
  show(thread);
  EXPECT_EQ(static_cast<int>(view().focusedRow()), view().rows().rowOfTrack(tracks[0]));
}

TEST_F(EvidenceTest, RowsWithAPlaceAreLinksThatTheKeyboardReaches) {
  open(smallTrace());
  Report report;
  Finding finding;
  finding.title = "A finding";
  finding.evidence = {{"name", "mean"}, {{"forward", "0.5 ms"}, {"whole", "1"}}, 2, {}};
  finding.evidence.places.resize(2);
  finding.evidence.places[0].name = "forward";
  report.findings.push_back(finding);
  window_.findingsView().setReport(std::make_shared<const Report>(report));
  QTextBrowser& text = window_.findingsView().text();
  EXPECT_EQ(text.toHtml().count("href=\"evidence:"), 1) << "the other row is nowhere";
  QSignalSpy shown(&window_, &MainWindow::evidenceShown);
  text.setFocus();
  QTest::keyClick(&text, Qt::Key_Tab);
  QTest::keyClick(&text, Qt::Key_Return);
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  EXPECT_EQ(nameOf(view().selected().value()), "forward");
}

}  // namespace
}  // namespace pitwall::gui::evidence_test
