// The keys that open, close and search: pages, dialogs, the palette, files.
#include <QApplication>
#include <QFile>
#include <QLineEdit>
#include <QMenuBar>
#include <QTimer>

#include "gui/app/help_sheet.h"
#include "tests/gui/key_map_fixture.h"

namespace pitwall::gui::key_map_pages_test {
namespace {

TEST_F(KeyMapTest, SearchKeysGoToHitsBothWays) {
  QLineEdit* search = field("Search events");
  ASSERT_NE(search, nullptr);
  key(Qt::Key_Slash);
  EXPECT_EQ(focus(), search);
  view().setFocus();
  keys("Ctrl+F");
  EXPECT_EQ(focus(), search);
  QTest::keyClicks(search, "wait");
  std::vector<EventRef> hits;
  for (int i = 0; i < 3; ++i) {
    QTest::keyClick(search, Qt::Key_Return);
    ASSERT_EQ(selectedName(), "wait");
    hits.push_back(*view().selected());
  }
  EXPECT_NE(hits[0], hits[1]);
  QTest::keyClick(search, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(*view().selected(), hits[1]);
  QTest::keyClick(search, Qt::Key_F3);
  EXPECT_EQ(*view().selected(), hits[2]);
  QTest::keyClick(search, Qt::Key_F3, Qt::ShiftModifier);
  EXPECT_EQ(*view().selected(), hits[1]);
  // Letters typed into a field are text there.
  EXPECT_EQ(search->text(), "wait");
  QLineEdit* rows = field("Filter rows");
  ASSERT_NE(rows, nullptr);
  keysOf(search, "Ctrl+P");
  EXPECT_EQ(focus(), rows);
  QTest::keyClicks(rows, "worker");
  EXPECT_EQ(view().rows().rows().size(), 2U);
}

TEST_F(KeyMapTest, EscapeTakesBackOneThingAtATime) {
  click(at(0, 1, 2.1e6));
  key(Qt::Key_R);
  keys("Ctrl+Shift+P");
  ASSERT_TRUE(window_.commandPalette().isVisible());
  QTest::keyClick(&window_.commandPalette().line(), Qt::Key_Escape);
  EXPECT_FALSE(window_.commandPalette().isVisible());
  EXPECT_TRUE(view().range().has_value());
  view().setFocus();
  key(Qt::Key_Escape);
  EXPECT_FALSE(view().range().has_value());
  EXPECT_TRUE(view().selected().has_value());
  key(Qt::Key_Escape);
  EXPECT_FALSE(view().selected().has_value());
}

TEST_F(KeyMapTest, PaletteHelpDrawerAndGridOpenByTheirKeys) {
  for (const char* sequence : {"Ctrl+Shift+P", "Ctrl+K", ":"}) {
    view().setFocus();
    keys(sequence);
    EXPECT_TRUE(window_.commandPalette().isVisible()) << sequence;
    EXPECT_EQ(window_.commandPalette().line().text(), QString(sequence) == ":" ? ":" : "") << sequence;
    window_.commandPalette().hide();
  }
  for (const char* sequence : {"?", "Ctrl+F1", "F1"}) {
    view().setFocus();
    keys(sequence);
    auto* sheet = window_.findChild<HelpSheet*>();
    ASSERT_NE(sheet, nullptr) << sequence;
    EXPECT_TRUE(sheet->isVisible()) << sequence;
    delete sheet;
  }
  for (const char* sequence : {"Q", "F9"}) {
    view().setFocus();
    keys(sequence);
    EXPECT_FALSE(window_.detailsView().isVisibleTo(&window_)) << sequence;
    EXPECT_FALSE(window_.rangeView().parentWidget()->isVisibleTo(&window_)) << sequence;
    keys(sequence);
    EXPECT_TRUE(window_.rangeView().parentWidget()->isVisibleTo(&window_)) << sequence;
  }
  view().setFocus();
  const QImage plain = view().picture();
  keys("G");
  EXPECT_NE(view().picture(), plain);
  keys("G");
  EXPECT_EQ(view().picture(), plain);
}

TEST_F(KeyMapTest, PagesByTheirNumbers) {
  for (int page = 5; page >= 1; --page) {
    QTest::keyClick(focus(), static_cast<Qt::Key>(Qt::Key_0 + page), Qt::AltModifier);
    EXPECT_EQ(window_.pageInFront(), page - 1);
  }
  keysOf(focus(), "Ctrl+Shift+Q");
  EXPECT_EQ(window_.pageInFront(), 3);
  EXPECT_TRUE(window_.tracePages().sql().isAncestorOf(focus()));
}

TEST_F(KeyMapTest, FileKeysOpenReloadExportCloseAndQuit) {
  const std::string path = folder_ / "small.pitwall", other = folder_ / "other.pitwall";
  std::filesystem::copy_file(path, other);
  QSignalSpy shown(&window_, &MainWindow::analysisShown);
  inDialog([&](QWidget* dialog) { chooseFile(dialog, other); });
  keys("Ctrl+O");
  afterDialog();
  EXPECT_EQ(window_.session().path().toStdString(), other);
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  shown.clear();
  keys("F5");
  ASSERT_TRUE(shown.count() > 0 || shown.wait(kPatienceMs));
  EXPECT_TRUE(view().timeline());
  const std::string picture = folder_ / "view.svg";
  inDialog([&](QWidget* dialog) { chooseFile(dialog, picture); });
  view().setFocus();
  keys("Ctrl+Shift+E");
  afterDialog();
  EXPECT_GT(std::filesystem::file_size(picture), 1000U);
  // The range as a trace, which opens.
  view().selectRange(TimeRange{0, 3'000'000});
  const std::string part = folder_ / "part.pitwall";
  inDialog([&](QWidget* dialog) { chooseFile(dialog, part); });
  keys("Ctrl+Shift+R");
  afterDialog();
  ASSERT_TRUE(QTest::qWaitFor([&] { return Trace::open(part).has_value(); }, kPatienceMs));
  // B beside A.
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  inDialog([&](QWidget* dialog) { chooseFile(dialog, path); });
  keys("Ctrl+Shift+D");
  afterDialog();
  ASSERT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  window_.showPage(&view());
  keys("Ctrl+W");
  EXPECT_FALSE(view().timeline());
  keys("Ctrl+Q");
  EXPECT_FALSE(window_.isVisible());
}

// Both timelines of a comparison use the same keys.
TEST_F(KeyMapTest, TimelinesOfAComparisonAnswerToTheKeysToo) {
  QSignalSpy compared(&window_.comparePage(), &ComparePage::compared);
  window_.compareWith(QString::fromStdString(folder_ / "small.pitwall"));
  ASSERT_TRUE(compared.count() > 0 || compared.wait(kPatienceMs));
  TimelineView& b = window_.comparePage().timelineB();
  b.setFocus();
  const double before = b.viewportModel().view().ns_per_px, main = shown().ns_per_px;
  QTest::keyClick(b.viewport(), Qt::Key_W);
  EXPECT_LT(b.viewportModel().view().ns_per_px, before);
  EXPECT_NEAR(window_.comparePage().timelineA().viewportModel().view().ns_per_px,
              b.viewportModel().view().ns_per_px, before / 1e6);
  EXPECT_EQ(shown().ns_per_px, main);
}

// Every action works with a trace and without one; dialogs are dismissed.
TEST_F(KeyMapTest, EveryActionOfTheMenusCanBeTriggered) {
  QTimer dismiss;
  QObject::connect(&dismiss, &QTimer::timeout, [] {
    if (auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget())) dialog->reject();
  });
  dismiss.start(5);
  std::size_t triggered = 0;
  for (const bool opened : {true, false}) {
    if (!opened) window_.closeTrace();
    for (const ActionRegistry::Entry& entry : window_.actions().entries()) {
      if (entry.id == "file.quit" || (opened && entry.id == "file.close")) continue;
      // By keyboard: its own keys, or Alt with the menu's letter and the arrow keys.
      EXPECT_TRUE(window_.actions().menu(entry.menu)->title().contains('&')) << entry.id.toStdString();
      EXPECT_TRUE(window_.menuBar()->actions().contains(window_.actions().menu(entry.menu)->menuAction()));
      entry.action->trigger();
      QApplication::processEvents();
      ++triggered;
    }
  }
  EXPECT_EQ(triggered, 2 * window_.actions().entries().size() - 3);
  EXPECT_TRUE(window_.isVisible());
}

TEST_F(KeyMapTest, TheReportIsSavedFromTheMenu) {
  const std::string page = folder_ / "report.html";
  inDialog([&](QWidget* dialog) { chooseFile(dialog, page); });
  window_.actions().find("file.report")->trigger();
  afterDialog();
  QFile file(QString::fromStdString(page));
  ASSERT_TRUE(QTest::qWaitFor([&] { return file.exists(); }, 20000));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray text = file.readAll();
  EXPECT_TRUE(text.startsWith("<!DOCTYPE html>") || text.startsWith("<!doctype html>"));
  EXPECT_TRUE(text.contains("</html>"));
  EXPECT_TRUE(text.contains("id=\"timeline-data\"")) << "with its timeline";
  window_.closeTrace();
  window_.actions().find("file.report")->trigger();  // says that there is none, without a dialog
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
}

}  // namespace
}  // namespace pitwall::gui::key_map_pages_test
