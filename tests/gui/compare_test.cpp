// Two traces side by side, and what leaves the viewer as files.
#include <QAbstractItemModelTester>
#include <QFileInfo>
#include <QImage>

#include "gui/app/command_line.h"
#include "gui/app/exports.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::compare_test {
namespace {

// Iterations of 1 ms, in B of 2 ms and 3 ms later, with an operator that takes half of each.
void writeTrace(const std::string& path, bool b) {
  auto sink = createTrace(path);
  ASSERT_TRUE(sink.has_value());
  TraceSink& trace = **sink;
  const TimeNs step = b ? 2'000'000 : 1'000'000, begin = b ? 3'000'000 : 0;
  const ProcessId process = trace.process({1, "toy", "", 0});
  const ThreadId thread = trace.thread({process, 1, "main"});
  const TrackId track = trace.track({TrackKind::thread, process, thread, {}, "", ""});
  OperatorFacts facts;
  facts.name = "Convolution";
  facts.layer = "conv1";
  facts.phase = Phase::forward;
  const OperatorId conv = trace.operatorFacts(facts);
  trace.setting({"OMP_NUM_THREADS", b ? "2" : "4", SettingSource::byDefault});
  std::vector<Event> events;
  for (int i = 0; i < 30; ++i)
    events.push_back({.start_ns = begin + i * step,
                      .dur_ns = step / 2,
                      .pushed_ns = begin + i * step,
                      .ready_ns = begin + i * step,
                      .name = trace.string("Convolution"),
                      .op = conv,
                      .kind = EventKind::operatorRun});
  trace.events(track, events);
  for (int i = 0; i <= 30; ++i) trace.iteration({.index = i, .time_ns = begin + i * step, .items = 32});
  ASSERT_TRUE(trace.finish().has_value());
}

class CompareTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    writeTrace(folder_ / "a.pitwall", false);
    writeTrace(folder_ / "b.pitwall", true);
  }
  void openBoth() {
    QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
    window_.open(QString::fromStdString(folder_ / "a.pitwall"));
    window_.compareWith(QString::fromStdString(folder_ / "b.pitwall"));
    ASSERT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  }
};

TEST_F(CompareTest, AlignsAtAnIterationAndMovesTogether) {
  window_.show();
  openBoth();
  ComparePage& page = window_.comparePage();
  page.align(4, 4);
  EXPECT_EQ(page.offsetNs(), (3'000'000 + 4 * 2'000'000) - 4 * 1'000'000);
  page.align(5, 2);
  EXPECT_EQ(page.offsetNs(), (3'000'000 + 2 * 2'000'000) - 5 * 1'000'000);
  const auto apart = [&] {
    return page.timelineB().viewportModel().view().start_ns -
           page.timelineA().viewportModel().view().start_ns;
  };
  // Views begin at whole pixels.
  const auto pixel = [&] { return page.timelineA().viewportModel().view().ns_per_px; };
  EXPECT_NEAR(apart(), static_cast<double>(page.offsetNs()), pixel());
  page.timelineB().zoomInFast();
  page.timelineB().panRight();
  EXPECT_NEAR(apart(), static_cast<double>(page.offsetNs()), pixel());
  EXPECT_DOUBLE_EQ(page.timelineA().viewportModel().view().ns_per_px,
                   page.timelineB().viewportModel().view().ns_per_px);
}

// The page says what `pitwall compare` says.
TEST_F(CompareTest, TellsWhatChanged) {
  window_.show();
  openBoth();
  ComparePage& page = window_.comparePage();
  ASSERT_TRUE(page.comparison().has_value());
  EXPECT_NEAR(page.comparison()->change, 1.0, 0.01);  // twice as long
  EXPECT_TRUE(page.comparison()->isSignificant());
  const ChangesModel& changes = page.changes();
  ASSERT_GT(changes.rowCount(), 0);
  EXPECT_TRUE(changes.index(0, ChangesModel::kName).data().toString().contains("conv1"));
  EXPECT_NEAR(changes.index(0, ChangesModel::kDelta).data(Qt::UserRole).toDouble(), 500'000, 1);
  EXPECT_EQ(changes.index(0, ChangesModel::kShare).data().toString(), "+100 %");
  QStringList settings;
  for (int i = 0; i < page.settings().rowCount(); ++i)
    settings += page.settings().index(i, 0).data().toString() + "=" +
                page.settings().index(i, 1).data().toString() + "," +
                page.settings().index(i, 2).data().toString();
  EXPECT_TRUE(settings.contains("OMP_NUM_THREADS=4,2")) << settings.join("; ").toStdString();
}

TEST_F(CompareTest, ModelsKeepTheRulesOfModels) {
  ChangesModel changes;
  SettingChangesModel settings;
  const QAbstractItemModelTester a(&changes, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester b(&settings, QAbstractItemModelTester::FailureReportingMode::Fatal);
  changes.setChanges(
      "What", {{"x", 10, 30, 1, 1}, {"y, \"z\"", 5, 0, 1, 0}, {"nothing", 0, 0, 0, 0}, {"n", 0, 7, 0, 1}});
  settings.setChanges({{"A", "1", ""}});
  EXPECT_EQ(changes.rowCount(), 3);
  changes.sort(ChangesModel::kDelta, Qt::DescendingOrder);
  EXPECT_EQ(changes.change(0).name, "x");
  EXPECT_EQ(changes.index(1, ChangesModel::kShare).data().toString(), "new");
  changes.sort(ChangesModel::kName, Qt::AscendingOrder);
  EXPECT_EQ(tableText(changes, ','),
            "What,A,B,Change,\"Change, share\",Count in A,Count in B\nn,0,7,7,,0,1\nx,10,30,20,2,1,1\n"
            "\"y, \"\"z\"\"\",5,0,-5,-1,1,0\n");
  EXPECT_EQ(settings.index(0, 2).data().toString(), "not set");
}

TEST_F(CompareTest, RangeBecomesATraceAndPicturesAreWritten) {
  window_.show();
  open(folder_ / "a.pitwall");
  bool done = false;
  const QString part = QString::fromStdString(folder_ / "part.pitwall");
  exportRange(window_.session(), {5'000'000, 9'000'000}, part, &window_,
              [&](const QString& error, qlonglong events) {
                done = true;
                EXPECT_EQ(error, "");
                EXPECT_EQ(events, 4);
              });
  ASSERT_TRUE(QTest::qWaitFor([&] { return done; }, kPatienceMs));
  auto trace = Trace::open(part.toStdString());
  ASSERT_TRUE(trace.has_value());
  const auto rows = (*trace)->query("SELECT min(start_ns), max(start_ns) FROM event");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][0]), 5'000'000);
  EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][1]), 8'000'000);

  const QString png = QString::fromStdString(folder_ / "view.png"),
                svg = QString::fromStdString(folder_ / "view.svg");
  EXPECT_TRUE(savePicture(window_.timelineView(), png));
  EXPECT_EQ(QImage(png).size(), window_.timelineView().size());
  EXPECT_TRUE(savePicture(window_.timelineView(), svg));
  QFile file(svg);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray drawing = file.readAll();
  EXPECT_TRUE(drawing.contains("In view: ") && drawing.contains("</svg>"));  // text stays text
  EXPECT_FALSE(savePicture(window_.timelineView(), QString::fromStdString(folder_ / "none/view.svg")));
}

TEST(CommandLineTest, UnderstandsItsOptionsAndSaysWhatIsWrong) {
  const auto good =
      parseCommandLine({"pitwall-gui", "--export", "x.png", "--range", "1ms..2.5ms", "--select", "conv",
                        "--theme", "dark", "--size", "1024x640", "a.pitwall", "b.pitwall"},
                       "1");
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->range->begin_ns, 1'000'000);
  EXPECT_EQ(good->range->end_ns, 2'500'000);
  EXPECT_EQ(good->size, QSize(1024, 640));
  EXPECT_EQ(good->theme, Theme::dark);
  EXPECT_EQ(good->files.size(), 2);
  const std::pair<QStringList, const char*> wrongs[] = {{{"--export", "x.gif", "t"}, "x.gif"},
                                                        {{"--export", "x.csv"}, "needs a trace"},
                                                        {{"--range", "7", "t"}, "--range 7"},
                                                        {{"--theme", "pink"}, "pink"},
                                                        {{"--size", "12x1"}, "12x1"},
                                                        {{"--wrong"}, "wrong"},
                                                        {{"--export", "x.png", "a", "b", "c"}, "--merge"}};
  for (const auto& [arguments, message] : wrongs) {
    const auto line = parseCommandLine(QStringList{"pitwall-gui"} + arguments, "1");
    ASSERT_FALSE(line.has_value()) << message;
    EXPECT_NE(line.error().message.find(message), std::string::npos) << line.error().message;
  }
}

// As two files on the command line do it: the page that was in front of A last time stays behind.
TEST_F(CompareTest, TheComparisonStaysInFrontWhenAIsLoaded) {
  const std::string a = smallTrace();
  open(a);
  window_.showPageAt(1);
  window_.closeTrace();  // it is remembered
  QSignalSpy shown(&window_, &MainWindow::analysisShown);
  window_.open(QString::fromStdString(a));
  window_.compareWith(QString::fromStdString(a));
  ASSERT_TRUE(shown.wait(kPatienceMs));
  EXPECT_TRUE(window_.isComparing());
}

}  // namespace
}  // namespace pitwall::gui::compare_test
