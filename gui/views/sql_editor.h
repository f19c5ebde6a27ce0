// Text field for SQL that completes names of tables and columns: as soon as two letters match, or with Ctrl+Space.
#pragma once

#include <QCompleter>
#include <QPlainTextEdit>

namespace pitwall::gui {

class SqlEditor final : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit SqlEditor(QWidget* parent = nullptr);
  void setWords(QStringList words);
  const QCompleter& completer() const { return *completer_; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QString begun() const;  // the word before the cursor
  void offer(bool asked);
  void complete(const QString& word);

  QCompleter* completer_;
};

}  // namespace pitwall::gui
