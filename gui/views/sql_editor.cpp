#include "gui/views/sql_editor.h"

#include <QAbstractItemView>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QScrollBar>
#include <QStringListModel>
#include <QTextBlock>

namespace pitwall::gui {
namespace {

constexpr qsizetype kLeastLetters = 2;

}  // namespace

SqlEditor::SqlEditor(QWidget* parent) : QPlainTextEdit(parent), completer_(new QCompleter(this)) {
  completer_->setWidget(this);
  completer_->setCompletionMode(QCompleter::PopupCompletion);
  completer_->setCaseSensitivity(Qt::CaseInsensitive);
  completer_->setFilterMode(Qt::MatchContains);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &SqlEditor::complete);
}

// A search for a font takes longer than all else of the page.
void SqlEditor::showEvent(QShowEvent* event) {
  const QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  if (font().family() != fixed.family()) setFont(fixed);
  QPlainTextEdit::showEvent(event);
}

void SqlEditor::setWords(QStringList words) {
  words.removeDuplicates();
  words.sort(Qt::CaseInsensitive);
  completer_->setModel(new QStringListModel(words, completer_));
}

QString SqlEditor::begun() const {
  const QTextCursor cursor = textCursor();
  const QString before = cursor.block().text().left(cursor.positionInBlock());
  qsizetype from = before.size();
  while (from > 0 && (before[from - 1].isLetterOrNumber() || before[from - 1] == '_')) --from;
  return before.mid(from);
}

void SqlEditor::offer(bool asked) {
  const QString word = begun();
  QAbstractItemView* list = completer_->popup();
  if (word.size() < kLeastLetters && !asked) return list->hide();
  completer_->setCompletionPrefix(word);
  const int count = completer_->completionCount();
  if (count == 0 || (count == 1 && completer_->currentCompletion() == word)) return list->hide();
  list->setCurrentIndex(completer_->completionModel()->index(0, 0));
  QRect at = cursorRect();
  at.setWidth(list->sizeHintForColumn(0) + list->verticalScrollBar()->sizeHint().width() + 8);
  completer_->complete(at);
}

void SqlEditor::complete(const QString& word) {
  QTextCursor cursor = textCursor();
  cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, static_cast<int>(begun().size()));
  cursor.insertText(word);
  setTextCursor(cursor);
}

void SqlEditor::keyPressEvent(QKeyEvent* event) {
  const bool open = completer_->popup()->isVisible();
  // The list takes these for itself.
  for (const int taken : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Tab, Qt::Key_Backtab, Qt::Key_Escape}) {
    if (open && event->key() == taken) return event->ignore();
  }
  if (event->key() == Qt::Key_Space && event->modifiers().testFlag(Qt::ControlModifier)) return offer(true);
  QPlainTextEdit::keyPressEvent(event);
  if (open || (!event->text().isEmpty() && event->text()[0].isPrint())) offer(false);
}

}  // namespace pitwall::gui
