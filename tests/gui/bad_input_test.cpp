// Files that are no traces, broken ones, and traces at the edge of what there is: a message in the window or
// a picture, never a crash or a hang.
#include <QStatusBar>
#include <filesystem>
#include <fstream>

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui {
namespace {

class BadInputTest : public ViewerTest {
 protected:
  // What the window says of a file, once it has made up its mind; "" when it shows it.
  std::string afterOpening(const std::string& path) {
    bool decided = false;
    QString error;
    const auto a = QObject::connect(&window_, &MainWindow::analysisShown, [&] { decided = true; });
    const auto b = QObject::connect(&window_, &MainWindow::loadFailed, [&](const QString& what) {
      decided = true;
      error = what;
    });
    window_.open(QString::fromStdString(path));
    EXPECT_TRUE(QTest::qWaitFor([&] { return decided; }, kPatienceMs)) << path;
    QObject::disconnect(a);
    QObject::disconnect(b);
    EXPECT_EQ(QApplication::activeModalWidget(), nullptr);  // no dialog in the way
    return error.toStdString();
  }
  const Timeline& timeline() { return *window_.timelineView().timeline(); }
  static std::string bytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  bool hasColors(const QImage& picture) {
    const SceneGeometry g = window_.timelineView().geometryNow();
    std::set<QRgb> colors;
    for (int y = g.top(); y < picture.height(); y += 2) {
      for (int x = g.titles; x < picture.width(); ++x) colors.insert(picture.pixel(x, y));
    }
    return colors.size() > 2;
  }
};

TEST_F(BadInputTest, EachGetsOneMessageAndTheNextTraceOpens) {
  window_.show();
  const std::string good = smallTrace(), bytes = bytesOf(good);
  std::filesystem::create_directory(folder_ / "folder.pitwall");
  write(folder_ / "empty.pitwall", "");
  write(folder_ / "truncated.pitwall", bytes.substr(0, bytes.size() / 2));
  write(folder_ / "header.pitwall", bytes.substr(0, 100));
  write(folder_ / "text.json", "{\"hello\": 1}");
  write(folder_ / "binary.pitwall", std::string(5000, '\xfe'));
  std::string foreign = bytes;
  foreign.replace(68, 4, 4, '\0');  // another program's database
  write(folder_ / "foreign.sqlite", foreign);
  std::string scrambled = bytes;
  for (std::size_t i = 4096; i < scrambled.size(); i += 7)
    scrambled[i] = static_cast<char>(scrambled[i] ^ 0x5a);
  write(folder_ / "scrambled.pitwall", scrambled);
  for (const char* name :
       {"missing.pitwall", "folder.pitwall", "empty.pitwall", "truncated.pitwall", "header.pitwall",
        "text.json", "binary.pitwall", "foreign.sqlite", "scrambled.pitwall"}) {
    const std::string message = afterOpening(folder_ / name);
    EXPECT_NE(message.find(name), std::string::npos) << name << ": " << message;
    // It stands in the window, once.
    int shown = 0;
    for (const QLabel* label : window_.findChildren<QLabel*>())
      shown += label->isVisibleTo(&window_) && label->text().toStdString() == message;
    EXPECT_EQ(shown, 1) << name;
  }
  EXPECT_EQ(afterOpening(good), "");
  EXPECT_EQ(timeline().events, 120U);
}

TEST_F(BadInputTest, ATraceThatIsStillWrittenOrChangesUnderTheReader) {
  window_.show();
  const std::string path = folder_ / "growing.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const TrackId track =
      trace.track({TrackKind::thread, process, trace.thread({process, 1, "main"}), {}, "", ""});
  const StringId name = trace.string("step");
  const auto add = [&](int from, int to) {
    std::vector<Event> events;
    for (int i = from; i < to; ++i) events.push_back({.start_ns = i * 1000, .dur_ns = 500, .name = name});
    trace.events(track, events);
  };
  add(0, 100);
  ASSERT_TRUE(trace.flush().has_value());
  EXPECT_EQ(afterOpening(path), "");
  EXPECT_EQ(timeline().events, 100U);
  EXPECT_FALSE(timeline().complete);
  EXPECT_TRUE(window_.statusBar()->currentMessage().contains("did not finish"));
  add(100, 250);
  ASSERT_TRUE(trace.finish().has_value());
  EXPECT_EQ(afterOpening(path), "");  // as F5 does
  EXPECT_EQ(timeline().events, 250U);
  // Cut short while it is open: what is asked of it then fails with a message or an empty answer.
  std::filesystem::resize_file(path, 3000);
  window_.find("step", true);
  ASSERT_TRUE(window_.timelineView().selected().has_value());
  EXPECT_TRUE(QTest::qWaitFor([&] { return window_.detailsView().topLevelItemCount() > 0; }, kPatienceMs));
  EXPECT_NE(afterOpening(path), "");
}

TEST_F(BadInputTest, NamesOfAnyLengthAndDirection) {
  window_.show();
  const std::string path = folder_ / "names.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const std::string names[] = {std::string(10'000, 'x'),
                               "\u0645\u0631\u062d\u0628\u0627 conv \u05e9\u05dc\u05d5\u05dd",
                               "\u202eevil\u202c",
                               "<b>bold</b>&amp;",
                               "line\nbreak\ttab",
                               "bad \xff\xfe utf8",
                               ""};
  const ProcessId process = trace.process({1, names[0], "", 0});
  TimeNs at = 0;
  for (const std::string& name : names) {
    const TrackId track =
        trace.track({TrackKind::thread, process, trace.thread({process, ++at, name}), {}, "", ""});
    const Event event{.start_ns = at * 1000, .dur_ns = 5000, .name = trace.string(name)};
    trace.events(track, {&event, 1});
  }
  ASSERT_TRUE(trace.finish().has_value());
  ASSERT_EQ(afterOpening(path), "");
  EXPECT_TRUE(hasColors(window_.timelineView().picture()));
  EXPECT_LT(window_.minimumSizeHint().width(), 1600);  // no name widens the window
  for (int i = 0; i < 7; ++i) {
    window_.timelineView().select(EventRef{static_cast<std::size_t>(i), 0, 0}, true);
    window_.timelineView().picture();
  }
  QSignalSpy answered(&window_.rangeView(), &RangeView::answered);
  window_.timelineView().selectRange(TimeRange{0, 20'000});
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  EXPECT_EQ(window_.rangeView().model().rowCount(), 7);
  EXPECT_LT(window_.width(), 3000);
}

// A nanosecond in an hour is seen, found and can be zoomed to.
TEST_F(BadInputTest, ANanosecondInAnHour) {
  window_.show();
  const std::string path = folder_ / "hour.pitwall";
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const TrackId track =
      trace.track({TrackKind::thread, process, trace.thread({process, 1, "main"}), {}, "", ""});
  const Event events[] = {{.start_ns = 0, .dur_ns = 1, .name = trace.string("first")},
                          {.start_ns = 1'234'567'890'123, .dur_ns = 1, .name = trace.string("tiny")},
                          {.start_ns = 3'600'000'000'000, .dur_ns = 0, .name = trace.string("end")}};
  trace.events(track, events);
  ASSERT_TRUE(trace.finish().has_value());
  ASSERT_EQ(afterOpening(path), "");
  EXPECT_TRUE(hasColors(window_.timelineView().picture()));
  window_.find("tiny", true);
  window_.timelineView().focusSelection();
  window_.timelineView().focusSelection();
  const View& view = window_.timelineView().viewportModel().view();
  EXPECT_LT(view.ns_per_px * view.width_px, 20);
  EXPECT_LE(view.start_ns, 1'234'567'890'123.0);
  EXPECT_GE(view.endNs(), 1'234'567'890'124.0);
  EXPECT_TRUE(hasColors(window_.timelineView().picture()));
}

TEST_F(BadInputTest, NoEventsAndManyTracks) {
  window_.show();
  const std::string none = folder_ / "none.pitwall";
  {
    auto sink = createTrace(none);
    ASSERT_TRUE(sink.has_value() && (*sink)->finish().has_value());
  }
  EXPECT_EQ(afterOpening(none), "");
  EXPECT_TRUE(window_.timelineView().accessibleDescription().contains("no events"))
      << window_.timelineView().accessibleDescription().toStdString();

  constexpr int kTracks = 10'000;
  const std::string many = folder_ / "many.pitwall";
  auto sink = createTrace(many);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const StringId name = trace.string("step");
  for (int i = 0; i < kTracks; ++i) {
    const ThreadId thread = trace.thread({process, i + 1, "thread " + std::to_string(i)});
    const TrackId track = trace.track({TrackKind::thread, process, thread, {}, "", ""});
    const Event event{.start_ns = i, .dur_ns = 1000, .name = name};
    trace.events(track, {&event, 1});
  }
  ASSERT_TRUE(trace.finish().has_value());
  ASSERT_EQ(afterOpening(many), "");
  EXPECT_EQ(timeline().tracks.size(), static_cast<std::size_t>(kTracks));
  EXPECT_TRUE(hasColors(window_.timelineView().picture()));
  window_.timelineView().setRowFilter("9999");
  EXPECT_EQ(window_.timelineView().rows().rows().size(), 2U);
}

}  // namespace
}  // namespace pitwall::gui
