// A window whose keys are pressed and whose dialogs are answered.
#pragma once

#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QTimer>
#include <functional>
#include <string>
#include <utility>

#include "tests/gui/gesture_fixture.h"

namespace pitwall::gui {

class KeyMapTest : public GestureTest {
 protected:
  void keys(const char* sequence) { QTest::keySequence(view().viewport(), QKeySequence(sequence)); }
  void keysOf(QWidget* widget, const char* sequence) { QTest::keySequence(widget, QKeySequence(sequence)); }
  QWidget* focus() { return QApplication::focusWidget(); }
  QLineEdit* field(const QString& accessible_name) {
    for (QLineEdit* edit : window_.findChildren<QLineEdit*>()) {
      if (edit->accessibleName() == accessible_name) return edit;
    }
    return nullptr;
  }
  double middle() { return shown().timeAt(shown().width_px / 2.0); }
  double span() { return shown().ns_per_px * shown().width_px; }
  QPointF titleOf(std::size_t row) {
    const SceneGeometry g = view().geometryNow();
    return {30, static_cast<double>(g.top() + view().rows().rows()[row].y - g.scroll_y + 8)};
  }
  // The window has the keys again.
  void afterDialog() {
    window_.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window_, kPatienceMs));
    view().setFocus();
  }
  // Answers the next dialog, which runs until it is answered.
  void inDialog(std::function<void(QWidget*)> answer) {
    auto* timer = new QTimer(&window_);
    connect_ = QObject::connect(timer, &QTimer::timeout, [timer, answer = std::move(answer)] {
      QWidget* dialog = QApplication::activeModalWidget();
      if (dialog == nullptr) return;
      timer->deleteLater();
      timer->stop();
      answer(dialog);
    });
    timer->start(5);
  }
  static void chooseFile(QWidget* dialog, const std::string& path) {
    auto* files = qobject_cast<QFileDialog*>(dialog);
    ASSERT_NE(files, nullptr);
    auto* name = files->findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(name, nullptr);
    name->setText(QString::fromStdString(path));
    QMetaObject::invokeMethod(files, "accept");
  }
  QMetaObject::Connection connect_;
};

}  // namespace pitwall::gui
