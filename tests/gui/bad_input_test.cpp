// Files that are no traces, broken ones, and traces at the limits of what is supported: a message in the
// window or a picture, never a crash or a hang.
#include <sys/stat.h>
#include <unistd.h>

#include <QStatusBar>
#include <filesystem>
#include <fstream>

#include "analyzer/analysis.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::bad_input_test {
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
    // It is in the window, once.
    int shown = 0;
    for (const QLabel* label : window_.findChildren<QLabel*>())
      shown += label->isVisibleTo(&window_) && label->text().toStdString() == message;
    EXPECT_EQ(shown, 1) << name;
  }
  EXPECT_EQ(afterOpening(good), "");
  EXPECT_EQ(timeline().events, 120U);
}

// Things that no permission of root's opens either.
TEST_F(BadInputTest, WhatCannotBeReadIsAMessage) {
  window_.show();
  const auto link = [&](const char* name, const char* to) {
    ASSERT_EQ(::symlink(to, (folder_ / name).c_str()), 0);
  };
  link("loop.pitwall", "loop.pitwall");
  link("memory.pitwall", "/proc/self/mem");
  link("endless.pitwall", "/dev/zero");
  link("dangling.pitwall", "nowhere");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.pitwall").c_str(), 0600), 0);  // opening it to read waits for a writer
  const std::string path = smallTrace();
  std::filesystem::create_directory(folder_ / "closed");
  std::filesystem::copy_file(path, folder_ / "closed/inside.pitwall");
  for (const char* name : {"loop.pitwall", "memory.pitwall", "endless.pitwall", "dangling.pitwall",
                           "pipe.pitwall", "small.pitwall/inside.pitwall"}) {
    const std::string message = afterOpening(folder_ / name);
    EXPECT_NE(message.find(name), std::string::npos) << name << ": " << message;
  }
  EXPECT_NE(afterOpening("/" + std::string(5000, 'x')), "");  // longer than a path may be
  // Where permissions apply, the message names them; root can read the file regardless.
  ASSERT_EQ(::chmod((folder_ / "closed/inside.pitwall").c_str(), 0), 0);
  const bool readable = ::access((folder_ / "closed/inside.pitwall").c_str(), R_OK) == 0;
  EXPECT_EQ(afterOpening(folder_ / "closed/inside.pitwall").empty(), readable);
  EXPECT_EQ(afterOpening(path), "");
}

// 20 GB that take no room on the disk: what is there is shown or refused at once, and none of them is read
// whole.
TEST_F(BadInputTest, HugeFiles) {
  window_.show();
  constexpr std::uintmax_t kHuge = 20'000'000'000;
  const std::string bytes = bytesOf(smallTrace());
  const auto huge = [&](const char* name, const std::string& begin) {
    write(folder_ / name, begin);
    std::filesystem::resize_file(folder_ / name, kHuge);
    EXPECT_EQ(std::filesystem::file_size(folder_ / name), kHuge);
    return folder_ / name;
  };
  // A header and nothing after it.
  EXPECT_NE(afterOpening(huge("header.pitwall", bytes.substr(0, 4096))).find("header.pitwall"),
            std::string::npos);
  // The header claims that many pages.
  std::string many = bytes;
  const std::uint32_t pages = kHuge / 4096;
  for (int i = 0; i < 4; ++i)
    many[28 + static_cast<std::size_t>(i)] = static_cast<char>(pages >> (24 - 8 * i));
  const std::string said = afterOpening(huge("pages.pitwall", many));
  EXPECT_TRUE(said.empty() ? timeline().events == 120 : said.find("pages.pitwall") != std::string::npos)
      << said;
  // A trace in JSON that never ends.
  const std::string json =
      R"({"traceEvents": [{"ph": "X", "name": "step", "ts": 1, "dur": 5, "pid": 1, "tid": 1},)";
  EXPECT_NE(afterOpening(huge("endless.json", json)).find("endless.json"), std::string::npos);
}

// The next request does not wait for a long import, whose result is dropped.
TEST_F(BadInputTest, AnotherFileEndsAnImport) {
  window_.show();
  const std::string good = smallTrace();
  const std::string event = R"({"ph": "X", "name": "step", "ts": 1, "dur": 5, "pid": 1, "tid": 1},)";
  std::string json = R"({"traceEvents": [)";
  while (json.size() < 30'000'000) json += event;
  write(folder_ / "long.json", json + R"({}]})");
  QSignalSpy loaded(&window_, &MainWindow::loaded), failed(&window_, &MainWindow::loadFailed);
  window_.open(QString::fromStdString(folder_ / "long.json"));
  EXPECT_EQ(afterOpening(good), "");
  EXPECT_EQ(loaded.count(), 1);
  EXPECT_EQ(failed.count(), 0);
  EXPECT_EQ(timeline().events, 120U);
}

// Work on a trace is cancelled when the trace is closed, in whichever way.
TEST_F(BadInputTest, LeavingATraceEndsItsAnalysis) {
  const std::string path = smallTrace();
  auto session = std::make_unique<TraceSession>();
  QSignalSpy analysed(session.get(), &TraceSession::analyzed);
  const auto opened = [&] {
    session->open(QString::fromStdString(path));
    EXPECT_FALSE(session->leaving()->load());
    return session->leaving();
  };
  const auto first = opened(), second = opened();
  EXPECT_TRUE(first->load());
  EXPECT_FALSE(second->load());
  session->close();
  EXPECT_TRUE(second->load());
  QApplication::processEvents();
  EXPECT_EQ(analysed.count(), 0);
  const auto last = opened();
  ASSERT_TRUE(analysed.count() > 0 || analysed.wait(kPatienceMs));
  EXPECT_EQ(analysed.count(), 1);
  session.reset();
  EXPECT_TRUE(last->load());
  // A cancelled analysis ends with that error, not with a report.
  AnalyzeOptions options;
  options.cancel = last.get();
  const auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  const auto report = analyzeTrace(**trace, options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

TEST_F(BadInputTest, AWindowClosesWhileItsTraceIsAnalysed) {
  const std::string path = smallTrace();
  for (int i = 0; i < 3; ++i) {
    auto window = std::make_unique<MainWindow>();
    window->show();
    QSignalSpy loaded(window.get(), &MainWindow::loaded);
    window->open(QString::fromStdString(path));
    if (i > 0) {
      ASSERT_TRUE(loaded.count() > 0 || loaded.wait(kPatienceMs));
    }
    window->close();
    window.reset();
    EXPECT_LE(loaded.count(), 1);
  }
}

// Another file in its place, or none: what is shown stays, queries are answered, and reopening reports the
// error.
TEST_F(BadInputTest, ReplacedAndDeletedWhileOpen) {
  window_.show();
  const std::string path = smallTrace(), bytes = bytesOf(path);
  ASSERT_EQ(afterOpening(path), "");
  write(folder_ / "new", "no trace at all");
  std::filesystem::rename(folder_ / "new", path);
  const auto details = [&] {
    window_.timelineView().select(std::nullopt, false);
    window_.find("forward", true);
    return QTest::qWaitFor([&] { return window_.detailsView().topLevelItemCount() > 3; }, kPatienceMs);
  };
  EXPECT_TRUE(details());
  window_.actions().find("file.reload")->trigger();
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return !window_.timelineView().accessibleDescription().contains("Opening"); }, kPatienceMs));
  EXPECT_FALSE(window_.timelineView().timeline());
  write(path, bytes);
  ASSERT_EQ(afterOpening(path), "");
  std::filesystem::remove(path);
  EXPECT_TRUE(details());
  EXPECT_NE(afterOpening(path), "");
  EXPECT_FALSE(window_.timelineView().timeline());
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
  // Truncated while it is open: later queries fail with a message or return an empty result.
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
}  // namespace pitwall::gui::bad_input_test
