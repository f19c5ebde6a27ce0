// What the window keeps of a trace, and the ways to every action: palette, help sheet, menus, panes.
#include <QDir>
#include <QFile>
#include <QStandardPaths>

#include "db/import.h"
#include "gui/app/help_sheet.h"
#include "gui/app/open_dialog.h"
#include "tests/gui/viewer_fixture.h"

namespace pitwall::gui::session_test {
namespace {

class SessionTest : public ViewerTest {
 protected:
  void SetUp() override {
    ViewerTest::SetUp();
    window_.show();
  }
  void typeAndChoose(const QString& text) {
    window_.actions().find("go.palette")->trigger();
    window_.commandPalette().line().setText(text);
    QTest::keyClick(&window_.commandPalette().line(), Qt::Key_Return);
  }
  static QByteArray bytesOf(const std::string& path) {
    QFile file(QString::fromStdString(path));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return file.readAll();
  }
};

TEST(OpenDialog, OffersEveryFormatAlsoCompressed) {
  const QStringList filters = traceFilters().split(";;");
  ASSERT_EQ(filters.size(), static_cast<int>(importFormats().size()) + 2);
  for (const char* pattern : {"*.pitwall", "*.json.gz", "*.sqlite", "*.log.zst", "*.zip"})
    EXPECT_TRUE(filters.front().contains(pattern)) << pattern;
  for (const QString& filter : filters) EXPECT_EQ(filter.count('('), 1) << filter.toStdString();
}

TEST_F(SessionTest, NotesPinsRowsAndViewComeBackAndTheTraceStaysAsItWas) {
  const std::string path = smallTrace();
  const QByteArray before = bytesOf(path);
  open(path);
  TimelineView& view = window_.timelineView();
  view.setFocus();
  view.selectRange(TimeRange{2'000'000, 3'000'000});
  key(Qt::Key_M, Qt::ShiftModifier);
  NotesModel& notes = window_.stateStore().notes().model();
  ASSERT_EQ(notes.rowCount(), 1);
  EXPECT_TRUE(notes.setData(notes.index(0, NotesModel::kText), "here it \"stalls\"\nآ", Qt::EditRole));
  view.focusTrack(1);
  view.togglePinned();
  view.showTimes(4'000'000, 5'000'000);
  const View seen = view.viewportModel().view();
  const std::vector<Note> kept = notes.notes();
  window_.showPage(&window_.tracePages().sql());
  window_.close();

  MainWindow other;
  other.resize(window_.width() * 2 / 3, window_.height());  // the same time, whatever the width
  other.show();
  QSignalSpy shown(&other, &MainWindow::analysisShown);
  other.open(QString::fromStdString(path));
  ASSERT_TRUE(shown.wait(kPatienceMs));
  EXPECT_EQ(other.stateStore().notes().model().notes(), kept);
  EXPECT_TRUE(other.timelineView().rows().rows()[0].pinned);
  EXPECT_EQ(other.timelineView().rows().rows()[0].index, 1U);
  EXPECT_NEAR(other.timelineView().viewportModel().view().start_ns, seen.start_ns, seen.ns_per_px);
  EXPECT_NEAR(other.timelineView().viewportModel().view().endNs(), seen.endNs(),
              (seen.endNs() - seen.start_ns) / 100);
  EXPECT_EQ(other.pageInFront(), 3);
  EXPECT_EQ(bytesOf(path), before);
}

TEST_F(SessionTest, KeysMarkAddVisitAndDeleteNotes) {
  open(smallTrace());
  TimelineView& view = window_.timelineView();
  view.setFocus();
  NotesModel& notes = window_.stateStore().notes().model();
  key(Qt::Key_Period);
  key(Qt::Key_M);
  ASSERT_TRUE(view.mark().has_value());
  EXPECT_EQ(view.mark()->to - view.mark()->from, 900'000);
  EXPECT_EQ(notes.rowCount(), 0);
  const QImage marked = view.picture();
  key(Qt::Key_M, Qt::ShiftModifier);
  EXPECT_FALSE(view.mark().has_value());
  ASSERT_EQ(notes.rowCount(), 1);
  EXPECT_NE(view.picture(), marked);
  key(Qt::Key_Right);
  key(Qt::Key_M, Qt::ShiftModifier);
  key(Qt::Key_M, Qt::ShiftModifier);  // there is one already
  ASSERT_EQ(notes.rowCount(), 2);
  window_.actions().find("notes.previous")->trigger();
  ASSERT_TRUE(view.range().has_value());
  EXPECT_EQ(view.range()->from, notes.notes()[0].from_ns);
  view.setFocus();
  key(Qt::Key_Delete);
  EXPECT_EQ(notes.rowCount(), 1);
}

TEST_F(SessionTest, DamagedMemoryIsAsNone) {
  const std::string path = smallTrace();
  open(path);
  const QString file = memoryPath(identityOf(*window_.timelineView().timeline()));
  for (const QByteArray& text : {QByteArray("{\"version\": 1, \"rows\": 7, \"notes\": [3, {}]}"),
                                 QByteArray("{"), QByteArray("{\"version\": 99}"), QByteArray()}) {
    ASSERT_TRUE(QDir().mkpath(QFileInfo(file).path()));
    QFile out(file);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    out.write(text);
    out.close();
    MainWindow other;
    QSignalSpy shown(&other, &MainWindow::analysisShown);
    other.open(QString::fromStdString(path));
    ASSERT_TRUE(shown.wait(kPatienceMs));
    EXPECT_EQ(other.timelineView().rows().rows().size(), 3U) << text.toStdString();
  }
}

TEST_F(SessionTest, PaletteFindsActionsRowsNamesAndSql) {
  open(smallTrace());
  const TimelineView& view = window_.timelineView();
  typeAndChoose("forward");  // an action that goes forward and an event of that name: the palette offers both
  typeAndChoose("worker");
  EXPECT_EQ(view.rows().rows()[view.focusedRow()].index, 1U);
  window_.actions().find("go.palette")->trigger();
  CommandModel& model = window_.commandPalette().model();
  model.setText("wait");
  int name = -1;
  for (int row = 0; row < model.rowCount(); ++row) {
    if (model.command(row).kind == Command::Kind::name && model.command(row).text == "wait") name = row;
  }
  ASSERT_GE(name, 0);
  emit window_.commandPalette().chosen(model.command(name));
  ASSERT_TRUE(view.selected().has_value());
  const EventRef& event = *view.selected();
  EXPECT_EQ(view.timeline()->name(view.timeline()->tracks[event.track].lanes[event.lane].name(event.index)),
            "wait");
  window_.commandPalette().hide();

  SqlPage& sql = window_.tracePages().sql();
  QSignalSpy answered(&sql, &SqlPage::answered);
  typeAndChoose(": SELECT count(*) FROM event");
  ASSERT_TRUE(answered.count() > 0 || answered.wait(kPatienceMs));
  EXPECT_EQ(sql.model().data(sql.model().index(0, 0), Qt::UserRole).toLongLong(), 120);

  typeAndChoose("whole trace");
  EXPECT_EQ(window_.pageInFront(), 3);  // done, without going there
}

TEST_F(SessionTest, EveryActionIsInAMenuInThePaletteAndOnTheHelpSheet) {
  const HelpSheet sheet(window_.actions(), nullptr);
  CommandModel model;
  EXPECT_GT(window_.actions().entries().size(), 50U);
  for (const ActionRegistry::Entry& entry : window_.actions().entries()) {
    const QString text = ActionRegistry::plainText(*entry.action);
    EXPECT_TRUE(window_.actions().menu(entry.menu)->actions().contains(entry.action)) << text.toStdString();
    EXPECT_TRUE(sheet.text().contains(text)) << text.toStdString();
    EXPECT_TRUE(sheet.text().contains(ActionRegistry::keysText(*entry.action))) << text.toStdString();
    model.setActions({{Command::Kind::action, 0, text, {}, {}}});
    model.setText(text.left(6));
    EXPECT_EQ(model.rowCount(), 1) << text.toStdString();
  }
}

TEST_F(SessionTest, KeysGoFromPaneToPaneAndPageToPage) {
  open(smallTrace());
  window_.timelineView().setFocus();
  std::set<QWidget*> visited;
  for (int i = 0; i < 5; ++i) {
    window_.actions().find("go.next_pane")->trigger();
    visited.insert(QApplication::focusWidget());
  }
  EXPECT_EQ(visited.size(), 5U);
  for (const char* id : {"go.events", "go.flame", "go.sql", "go.compare", "go.timeline"}) {
    QAction* action = window_.actions().find(id);
    ASSERT_NE(action, nullptr) << id;
    action->trigger();
    EXPECT_TRUE(ActionRegistry::keysText(*action).contains(QString("Alt+%1").arg(window_.pageInFront() + 1)))
        << id;
  }
}

}  // namespace
}  // namespace pitwall::gui::session_test
