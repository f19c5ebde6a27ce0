// Stores the user's additions to a trace and restores them when it is opened again: notes, rows, view, page.
// Acts on the window's timeline; writes files in the user's data folder only.
#pragma once

#include <QObject>
#include <QTimer>

#include "gui/views/notes_view.h"
#include "gui/views/timeline_scene.h"

namespace pitwall::gui {

class MainWindow;

class TraceStateStore final : public QObject {
  Q_OBJECT
 public:
  // Adds the notes' tab and actions to the window, which owns all of them.
  explicit TraceStateStore(MainWindow* window);

  NotesView& notes() { return *notes_; }

 public slots:
  void mark();      // temporarily
  void keepNote();  // on the range, the event, or the middle of the view
  void editNote();
  void deleteNote();
  void nextNote() { goToNote(true); }
  void previousNote() { goToNote(false); }
  void save();

 private:
  void addActions();
  void restore();
  void showNotes();
  void showNote(int row);
  void goToNote(bool forward);
  TimeRange where() const;
  int noteHere() const;

  MainWindow* window_;
  NotesView* notes_;
  QString identity_;  // of the open trace; empty: none
  QTimer soon_;       // one file for many changes
};

}  // namespace pitwall::gui
