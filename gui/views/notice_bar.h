// A line above the pages: a remark that stays until the user closes it.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QToolButton>

namespace pitwall::gui {

class NoticeBar final : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  void setText(const QString& text);  // empty: none, and the bar is hidden
  QString text() const { return text_->text(); }

 private:
  QLabel* text_;
  QToolButton* close_;
};

}  // namespace pitwall::gui
