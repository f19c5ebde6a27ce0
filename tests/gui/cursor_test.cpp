// Values of counters under the mouse, at a cursor that the user sets, and at the edges of a range.
#include <QMenuBar>
#include <QTabBar>

#include "gui/timeline/counter_text.h"
#include "tests/gui/gesture_fixture.h"
#include "tests/support/trace_text.h"

namespace pitwall::gui::cursor_test {
namespace {

class CursorTest : public GestureTest {
 protected:
  void SetUp() override {
    GestureTest::SetUp();
    const std::string path = folder_ / "counters.pitwall";
    const auto status = test::makeTraceFile(
        "range work 0 10ms\ncounter memory bytes 1ms 1048576\ncounter memory bytes 4ms 3145728\n"
        "counter faults 1/s 2ms 23600\n",
        path);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    open(path);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> texts;
    for (const CursorValue& value : view().valuesAtCursors()) texts.push_back(value.text.toStdString());
    return texts;
  }
  void hover(double time_ns) { mouse(QEvent::MouseMove, at(0, 0, time_ns), Qt::NoButton); }
};

using Texts = std::vector<std::string>;

TEST_F(CursorTest, ShowsValuesUnderTheMouseAndDifferencesToTheOneThatWasSet) {
  hover(0.5e6);
  EXPECT_EQ(texts(), Texts{}) << "before the first samples";
  hover(2.5e6);
  EXPECT_EQ(texts(), (Texts{"1.0 MiB", "23.6 k/s"}));
  const QImage with = view().viewport()->grab().toImage();
  key(Qt::Key_C);
  ASSERT_TRUE(view().fixedCursor().has_value());
  EXPECT_NEAR(static_cast<double>(*view().fixedCursor()), 2.5e6, shown().ns_per_px);
  hover(5e6);
  EXPECT_EQ(texts(), (Texts{"1.0 MiB", "23.6 k/s", "3.0 MiB (+2.0 MiB)", "23.6 k/s (+0 /s)"}));
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(view().viewport(), &leave);
  EXPECT_EQ(texts(), (Texts{"1.0 MiB", "23.6 k/s"})) << "the cursor stays";
  EXPECT_NE(view().viewport()->grab().toImage(), with);
  key(Qt::Key_C);
  EXPECT_EQ(texts(), Texts{});
}

TEST_F(CursorTest, ARangeHasTheValuesAtBothEdges) {
  view().selectRange(TimeRange{2'500'000, 5'000'000});
  EXPECT_EQ(texts(), (Texts{"1.0 MiB", "23.6 k/s", "3.0 MiB (+2.0 MiB)", "23.6 k/s (+0 /s)"}));
}

TEST(CounterText, HasUnitsAsPeopleReadThem) {
  EXPECT_EQ(showCounter(23600, "1/s"), "23.6 k/s");
  EXPECT_EQ(showCounter(0, "1/s"), "0 /s");
  EXPECT_EQ(showCounter(2.8e6, "bytes/s"), "2.80 MB/s");
  EXPECT_EQ(showCounter(3145728, "bytes"), "3.0 MiB");
  EXPECT_EQ(showCounter(0.752, "cores"), "0.752 cores");
  EXPECT_EQ(showCounter(12, ""), "12");
  EXPECT_EQ(showCounter(0.5, "share"), "50.0 %");
  EXPECT_EQ(showDifference(-1048576, "bytes"), "-1.0 MiB");
}

// Alt and a letter open its menu: nothing in the window has the same letter.
TEST_F(CursorTest, LettersOfTheMenusAreTheMenusAlone) {
  std::map<QString, QString> menus;
  for (const QAction* action : window_.menuBar()->actions())
    menus[QKeySequence::mnemonic(action->text()).toString()] = action->text();
  ASSERT_EQ(menus.size(), 8U);
  std::vector<QString> texts;
  for (const QTabBar* bar : window_.findChildren<QTabBar*>()) {
    for (int i = 0; i < bar->count(); ++i) texts.push_back(bar->tabText(i));
  }
  for (const QAbstractButton* button : window_.findChildren<QAbstractButton*>())
    texts.push_back(button->text());
  for (const QLabel* label : window_.findChildren<QLabel*>()) {
    if (label->buddy() != nullptr) texts.push_back(label->text());
  }
  for (const QString& text : texts) {
    const QString key = QKeySequence::mnemonic(text).toString();
    EXPECT_TRUE(key.isEmpty() || !menus.contains(key))
        << text.toStdString() << " and " << menus[key].toStdString();
  }
}

}  // namespace
}  // namespace pitwall::gui::cursor_test
