// Before a trace is shown: the start page, what is missing of a file, stopping.
#include <QAbstractItemView>
#include <algorithm>
#include <fstream>

#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::start_test {
namespace {

class StartTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.resize(1300, 800);
    window_.show();
  }
  // Events of a Chrome trace; `whole`: with its end.
  std::string chromeTrace(int events, bool whole) {
    const std::string path = folder_ / (whole ? "whole.json" : "cut.json");
    std::ofstream file(path);
    file << R"({"traceEvents": [)";
    for (int i = 0; i < events; ++i) {
      file << (i > 0 ? "," : "") << R"({"ph":"X","name":"work","pid":1,"tid":1,"ts":)" << i * 10
           << R"(,"dur":5})";
    }
    file << (whole ? "]}" : R"(,{"ph":"X","name":"wo)");
    return path;
  }
};

TEST_F(StartTest, ThePageOffersRecentFilesAndRemovesThoseThatAreGone) {
  EXPECT_TRUE(window_.startPage().isVisible());
  EXPECT_EQ(window_.startPage().size(), window_.timelineView().size());
  const std::string kept = smallTrace(), gone = folder_ / "gone.pitwall";
  open(kept);
  EXPECT_FALSE(window_.startPage().isVisible());
  QSettings().setValue("recent", QStringList{QString::fromStdString(gone), QString::fromStdString(kept)});
  window_.closeTrace();
  MainWindow second;
  second.show();
  QListWidget& recent = second.startPage().recent();
  ASSERT_EQ(recent.count(), 2);
  EXPECT_FALSE(recent.item(0)->flags().testFlag(Qt::ItemIsEnabled)) << "it cannot be opened";
  emit second.startPage().cleanWanted();
  ASSERT_EQ(recent.count(), 1);
  EXPECT_EQ(QSettings().value("recent").toStringList(), QStringList{QString::fromStdString(kept)});
  QSignalSpy shown(&second, &MainWindow::analysisShown);
  QTest::mouseClick(recent.viewport(), Qt::LeftButton, {}, recent.visualItemRect(recent.item(0)).center());
  ASSERT_TRUE(shown.wait(kPatienceMs));
  EXPECT_EQ(second.session().path(), QString::fromStdString(kept));
  EXPECT_FALSE(second.startPage().isVisible());
  second.closeTrace();
  EXPECT_TRUE(second.startPage().isVisible());
}

TEST_F(StartTest, ThePageNamesWhatCanBeOpened) {
  QString text;
  for (const QLabel* label : window_.startPage().findChildren<QLabel*>()) text += label->text() + "\n";
  for (const char* format : {"PyTorch", "Nsight", "gzip", ".pitwall"})
    EXPECT_TRUE(text.contains(format)) << format << " is not in " << text.toStdString();
}

TEST_F(StartTest, ATruncatedFileOpensWithANoticeOfWhatIsMissing) {
  open(chromeTrace(50, true));
  EXPECT_FALSE(window_.notice().isVisible());
  open(chromeTrace(50, false));
  ASSERT_TRUE(window_.timelineView().timeline() != nullptr);
  EXPECT_EQ(window_.timelineView().timeline()->events, 50U) << "what comes before the end is shown";
  EXPECT_TRUE(window_.notice().isVisible());
  EXPECT_TRUE(window_.notice().text().contains("cut.json")) << window_.notice().text().toStdString();
  QTest::mouseClick(window_.notice().findChild<QToolButton*>(), Qt::LeftButton);
  EXPECT_FALSE(window_.notice().isVisible());
  open(chromeTrace(50, false));
  EXPECT_TRUE(window_.notice().isVisible());
  open(smallTrace());
  EXPECT_FALSE(window_.notice().isVisible()) << "another trace";
}

TEST_F(StartTest, EscapeStopsLoadingAndTheButtonStopsAnalysing) {
  const std::string path = chromeTrace(400'000, true);
  QSignalSpy progressed(&window_.session(), &TraceSession::progressed);
  QSignalSpy loaded(&window_, &MainWindow::loaded);
  window_.open(QString::fromStdString(path));
  ASSERT_TRUE(progressed.wait(kPatienceMs));
  if (loaded.count() == 0) {
    QTest::keyClick(window_.timelineView().viewport(), Qt::Key_Escape);
    EXPECT_EQ(window_.timelineView().timeline(), nullptr);
    EXPECT_TRUE(window_.startPage().isVisible());
    EXPECT_TRUE(window_.session().path().isEmpty());
  }
  // The next one opens, and only its analysis is stopped.
  loaded.clear();
  QSignalSpy analysed(&window_, &MainWindow::analysisShown);
  window_.open(QString::fromStdString(path));
  ASSERT_TRUE(loaded.wait(kPatienceMs));
  if (analysed.count() == 0) {
    EXPECT_TRUE(window_.stopLoading());
    EXPECT_NE(window_.timelineView().timeline(), nullptr);
    EXPECT_FALSE(window_.stopLoading()) << "nothing goes on";
    window_.timelineView().selectNext();
    QSignalSpy details(&window_.session(), &TraceSession::detailsFound);
    window_.timelineView().selectNext();
    EXPECT_TRUE(details.count() > 0 || details.wait(kPatienceMs)) << "the trace is still read";
    EXPECT_EQ(analysed.count(), 0);
  }
}

TEST_F(StartTest, ANewWindowIsBesideThisOne) {
  open(smallTrace());
  const auto windows = [] {
    std::vector<MainWindow*> found;
    for (QWidget* widget : QApplication::topLevelWidgets()) {
      if (auto* window = qobject_cast<MainWindow*>(widget)) found.push_back(window);
    }
    return found;
  };
  const std::vector<MainWindow*> before = windows();
  window_.actions().find("file.new_window")->trigger();
  ASSERT_EQ(windows().size(), before.size() + 1);
  MainWindow* other = nullptr;
  for (MainWindow* window : windows()) {
    if (std::ranges::find(before, window) == before.end()) other = window;
  }
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(other->startPage().isVisible());
  EXPECT_NE(window_.timelineView().timeline(), nullptr);
  other->close();
  EXPECT_TRUE(QTest::qWaitFor([&] { return windows().size() == before.size(); }, kPatienceMs));
}

// For screen readers: a button has a text or a name.
TEST_F(StartTest, EveryButtonHasAName) {
  for (const QAbstractButton* button : window_.findChildren<QAbstractButton*>()) {
    if (QString(button->metaObject()->className()) != "QLineEditIconButton") continue;
    EXPECT_TRUE(button->accessibleName().startsWith("Clear: "))
        << button->parent()->objectName().toStdString();
  }
}

TEST_F(StartTest, ARowOfAnAnswerIsShownOnTheTimeline) {
  open(smallTrace());
  SqlPage& page = window_.tracePages().sql();
  TimelineView& view = window_.timelineView();
  const auto run = [&](const char* sql) {
    QSignalSpy answered(&page, &SqlPage::answered);
    window_.showPage(&page);
    page.setQuery(sql);
    page.run();
    ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  };
  run("SELECT id, name, start_ns AS at FROM event WHERE name = 'wait' ORDER BY start_ns");
  const qint64 start = page.model().index(5, 2).data(Qt::UserRole).toLongLong();
  page.table().setCurrentIndex(page.model().index(5, 0));
  QTest::keyClick(&page.table(), Qt::Key_Return);
  ASSERT_TRUE(QTest::qWaitFor([&] { return view.selected().has_value(); }, kPatienceMs));
  const Lane& lane = view.timeline()->tracks[view.selected()->track].lanes[view.selected()->lane];
  EXPECT_EQ(view.timeline()->name(lane.name(view.selected()->index)), "wait");
  EXPECT_EQ(lane.startNs(view.selected()->index), start);
  EXPECT_TRUE(view.isVisible());
  run("SELECT iteration, start_ns, dur_ns FROM analysis_iteration ORDER BY start_ns");
  page.table().setCurrentIndex(page.model().index(2, 0));
  QTest::keyClick(&page.table(), Qt::Key_Return);
  ASSERT_TRUE(view.range().has_value());
  EXPECT_EQ(view.range()->from, 2'000'000);
  EXPECT_EQ(view.range()->to, 3'000'000);
}

TEST_F(StartTest, SqlNamesAreListedAndCompleted) {
  open(smallTrace());
  SqlPage& page = window_.tracePages().sql();
  window_.showPage(&page);
  const auto found = page.schema().findItems("analysis_gap", Qt::MatchExactly);
  ASSERT_EQ(found.size(), 1);
  EXPECT_GE(found[0]->childCount(), 5) << "with its columns";
  SqlEditor* editor = &page.editor();
  editor->setFocus();
  QTest::keyClicks(editor, "SELECT * FROM analysis_ga");
  QAbstractItemView* list = page.editor().completer().popup();
  ASSERT_TRUE(QTest::qWaitFor([&] { return list->isVisible(); }, kPatienceMs));
  QTest::keyClick(list, Qt::Key_Return);
  EXPECT_EQ(page.query(), "SELECT * FROM analysis_gap");
  EXPECT_FALSE(list->isVisible());
}

}  // namespace
}  // namespace pitwall::gui::start_test
