#include "gui/views/notice_bar.h"

#include <QHBoxLayout>

#include "gui/views/wrapped_label.h"

namespace pitwall::gui {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent), text_(new WrappedLabel), close_(new QToolButton) {
  // Black on amber in either theme: at least 7:1.
  setStyleSheet(
      "pitwall--gui--NoticeBar{background:#f2c14e} QLabel{color:black} QToolButton{color:black;border:0}");
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  close_->setText(QStringLiteral("\u00d7"));
  close_->setAccessibleName(tr("Close this notice"));
  close_->setToolTip(tr("Close"));
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(8, 4, 4, 4);
  line->addWidget(text_, 1);
  line->addWidget(close_, 0, Qt::AlignTop);
  connect(close_, &QToolButton::clicked, this, [this] { setText({}); });
  hide();
}

void NoticeBar::setText(const QString& text) {
  text_->setText(text);
  setVisible(!text.isEmpty());
}

}  // namespace pitwall::gui
