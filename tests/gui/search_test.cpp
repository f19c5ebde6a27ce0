// Searching: by name, pattern, duration, layer and argument; which hit it is; what the keys do.
#include <QLineEdit>
#include <cmath>
#include <set>

#include "tests/gui/key_map_fixture.h"

namespace pitwall::gui::search_test {
namespace {

class SearchTest : public KeyMapTest {
 protected:
  void SetUp() override {
    KeyMapTest::SetUp();
    const std::string path = folder_ / "search.pitwall";
    auto sink = createTrace(path);
    ASSERT_TRUE(sink.has_value());
    TraceSink& trace = **sink;
    const ProcessId process = trace.process({1, "toy", "", 0});
    OperatorFacts facts;
    facts.name = "Convolution";
    for (const char* layer : {"conv1", "conv2"}) {
      facts.layer = layer;
      layers_.push_back(trace.operatorFacts(facts));
    }
    const StringId conv = trace.string("Convolution"), copy = trace.string("copy"),
                   big = trace.string(R"({"size":4096})"), small = trace.string(R"({"size":8})");
    for (int t = 0; t < 2; ++t) {
      const TrackId track = trace.track({TrackKind::thread,
                                         process,
                                         trace.thread({process, t + 1, t == 0 ? "main" : "worker"}),
                                         {},
                                         "",
                                         ""});
      std::vector<Event> events;
      for (int i = 0; i < 30; ++i) {
        const TimeNs at = i * 1'000'000;
        events.push_back({.start_ns = at,
                          .dur_ns = (i + 1) * 10'000,
                          .name = conv,
                          .op = layers_[i % 3 == 0 ? 0 : 1],
                          .kind = EventKind::operatorRun});
        events.push_back(
            {.start_ns = at + 500'000, .dur_ns = 1000, .name = copy, .args = i % 10 == 0 ? big : small});
      }
      trace.events(track, events);
    }
    ASSERT_TRUE(trace.finish().has_value());
    open(path);
    view().setFocus();
  }
  std::size_t hits(const QString& text) {
    QSignalSpy searched(&window_, &MainWindow::searched);
    window_.find(text, true);
    EXPECT_TRUE(searched.count() > 0 || searched.wait(kPatienceMs)) << text.toStdString();
    return view().hits() ? view().hits()->count() : 0;
  }
  TimeNs durOfSelected() {
    const EventRef& e = view().selected().value();
    return view().timeline()->tracks[e.track].lanes[e.lane].durNs(e.index);
  }

  std::vector<OperatorId> layers_;
};

TEST_F(SearchTest, FindsByNamePatternDurationLayerAndArgument) {
  EXPECT_EQ(hits("conv"), 60U);
  EXPECT_EQ(hits("/^c.*n$/"), 60U);
  EXPECT_EQ(hits("/^(copy|nothing)$/"), 60U);
  EXPECT_EQ(hits("dur > 250us"), 10U) << "0.26 to 0.30 ms on two threads";
  EXPECT_EQ(durOfSelected(), 260'000) << "the first of them is shown";
  EXPECT_EQ(hits("conv dur >= 250us dur<0.29ms"), 8U);
  EXPECT_EQ(hits("dur > 1s"), 0U);
  EXPECT_EQ(hits("layer:conv1"), 20U);
  EXPECT_EQ(hits("layer:conv1 dur > 100us"), 12U);
  EXPECT_EQ(hits("arg:4096"), 6U);
  EXPECT_EQ(hits("copy arg:\"size\\\":8\""), 0U) << "not what is there";
  EXPECT_EQ(window_.hitNumber(), "No event");
}

TEST_F(SearchTest, ABadPatternIsAMessageAndNoHit) {
  window_.find("/(/", true);
  EXPECT_FALSE(view().selected().has_value());
  EXPECT_EQ(view().hits(), nullptr);
}

TEST_F(SearchTest, KeysGoFromHitToHitAndTheirNumberIsShown) {
  keys("/");
  QLineEdit* search = field("Search events");
  ASSERT_EQ(focus(), search);
  QSignalSpy searched(&window_, &MainWindow::searched);
  QTest::keyClicks(search, "conv");
  ASSERT_TRUE(searched.wait(kPatienceMs)) << "hits while one types";
  EXPECT_EQ(window_.hitNumber(), "60");
  EXPECT_FALSE(view().selected().has_value()) << "nothing moves until Return";
  QTest::keyClick(search, Qt::Key_Return);
  EXPECT_EQ(window_.hitNumber(), "1 of 60");
  EXPECT_LT(span(), 100'000) << "the hit fills the view";
  for (int i = 0; i < 2; ++i) {
    search->setFocus();
    QTest::keyClick(search, Qt::Key_Return);
  }
  EXPECT_EQ(window_.hitNumber(), "3 of 60");
  keys("Shift+F3");
  EXPECT_EQ(window_.hitNumber(), "2 of 60");
  keys("Shift+F3");
  keys("Shift+F3");
  EXPECT_EQ(window_.hitNumber(), "60 of 60") << "begins again at the other end";
  const auto selected = view().selected();
  search->setFocus();
  QTest::keyClick(search, Qt::Key_Escape);
  EXPECT_EQ(view().selected(), selected) << "Escape keeps the hit";
  EXPECT_TRUE(view().hasFocus());
  key(Qt::Key_Escape);
  EXPECT_EQ(view().hits(), nullptr);
}

// Each pixel that a hit has is marked, and no other.
TEST_F(SearchTest, HitsAreMarkedOnTheTimeline) {
  key(Qt::Key_Home);
  const QImage without = view().picture();
  QSignalSpy searched(&window_, &MainWindow::searched);
  field("Search events")->setText("arg:4096");
  ASSERT_TRUE(searched.wait(kPatienceMs));
  const QImage with = view().picture();
  ASSERT_EQ(with.size(), without.size());
  std::set<int> columns;
  for (int y = view().geometryNow().top(); y < with.height(); ++y) {
    for (int x = view().geometryNow().titles; x < with.width(); ++x) {
      if (with.pixel(x, y) != without.pixel(x, y)) columns.insert(x);
    }
  }
  ASSERT_FALSE(columns.empty());
  for (const int column : columns) {
    const double ms = shown().timeAt(column - view().geometryNow().titles) / 1e6;
    const double nearest = std::round((ms - 0.5) / 10) * 10 + 0.5;
    EXPECT_NEAR(ms, nearest, 4 * shown().ns_per_px / 1e6);
  }
}

}  // namespace
}  // namespace pitwall::gui::search_test
