#include "gui/app/trace_state_store.h"

#include <algorithm>

#include "gui/app/main_window.h"

namespace pitwall::gui {

TraceStateStore::TraceStateStore(MainWindow* window)
    : QObject(window), window_(window), notes_(new NotesView) {
  window_->addDrawerTab(tr("Notes"), notes_);
  addActions();
  soon_.setSingleShot(true);
  soon_.setInterval(1000);
  connect(&soon_, &QTimer::timeout, this, &TraceStateStore::save);
  connect(window_, &MainWindow::opening, this, [this] {
    save();
    identity_.clear();
    notes_->model().setNotes({});
    window_->timelineView().setMark(std::nullopt);
  });
  connect(window_, &MainWindow::closing, this, &TraceStateStore::save);
  connect(window_, &MainWindow::loaded, this, &TraceStateStore::restore);
  connect(window_, &MainWindow::refreshed, this,
          [this] {  // a recording that is complete has another identity
            identity_ = identityOf(*window_->timelineView().timeline());
            soon_.start();
          });
  connect(&notes_->model(), &NotesModel::changed, this, &TraceStateStore::showNotes);
  connect(notes_, &NotesView::activated, this, &TraceStateStore::showNote);
  connect(&window_->timelineView(), &TimelineView::viewChanged, &soon_, qOverload<>(&QTimer::start));
}

void TraceStateStore::addActions() {
  ActionRegistry& actions = window_->actions();
  const auto add = [&](const char* id, const QString& text, const char* keys, void (TraceStateStore::*run)(),
                       bool of_timeline) {
    actions.add(MenuId::notes, {id, text, keys, [this, run] { (this->*run)(); }, of_timeline});
  };
  add("notes.mark", tr("&Mark temporarily"), "M", &TraceStateStore::mark, true);
  add("notes.keep", tr("&Add a note"), "Shift+M", &TraceStateStore::keepNote, true);
  add("notes.edit", tr("&Edit the note's text"), "Ctrl+M", &TraceStateStore::editNote, false);
  add("notes.delete", tr("&Delete the note"), "Del", &TraceStateStore::deleteNote, true);
  add("notes.next", tr("&Next note"), "Ctrl+.", &TraceStateStore::nextNote, false);
  add("notes.previous", tr("&Previous note"), "Ctrl+,", &TraceStateStore::previousNote, false);
}

// The range or event that a new note refers to.
TimeRange TraceStateStore::where() const {
  const TimelineView& view = window_->timelineView();
  if (view.range()) return *view.range();
  if (view.selected()) {
    const EventRef& event = *view.selected();
    const Lane& lane = view.timeline()->tracks[event.track].lanes[event.lane];
    return {lane.startNs(event.index), lane.endNs(event.index)};
  }
  const View& seen = view.viewportModel().view();
  const auto middle = static_cast<TimeNs>(seen.timeAt(seen.width_px / 2.0));
  return {middle, middle};
}

int TraceStateStore::noteHere() const {
  const TimeRange here = where();
  const double slack = window_->timelineView().viewportModel().view().ns_per_px * 8;
  return notes_->model().at(here.from + (here.to - here.from) / 2, static_cast<TimeNs>(slack));
}

void TraceStateStore::mark() {
  if (window_->timelineView().timeline()) window_->timelineView().setMark(where());
}

void TraceStateStore::keepNote() {
  if (!window_->timelineView().timeline()) return;
  const TimeRange here = where();
  window_->timelineView().setMark(std::nullopt);
  notes_->setCurrent(notes_->model().add(here.from, here.to));
  window_->showRemark(tr("The note is added; Ctrl+M edits its text."));
}

void TraceStateStore::editNote() {
  if (!window_->timelineView().timeline()) return;
  int row = noteHere();
  if (row < 0) {
    const TimeRange here = where();
    row = notes_->model().add(here.from, here.to);
  }
  window_->showDrawer(notes_);
  notes_->edit(row);
}

void TraceStateStore::deleteNote() {
  const int here = noteHere();
  const int row = here >= 0 ? here : notes_->current();
  if (row < 0) return window_->showRemark(tr("There is no note here to delete."));
  notes_->model().remove(row);
}

void TraceStateStore::goToNote(bool forward) {
  const int row = notes_->model().next(where().from, forward);
  if (row < 0) return window_->showRemark(tr("There are no notes yet: Shift+M adds one."));
  showNote(row);
}

void TraceStateStore::showNote(int row) {
  const Note note = notes_->model().notes()[static_cast<std::size_t>(row)];
  notes_->setCurrent(row);
  window_->showPage(&window_->timelineView());
  window_->timelineView().selectRange(TimeRange{note.from_ns, note.to_ns});
  window_->timelineView().showTimes(note.from_ns, note.to_ns);
}

void TraceStateStore::showNotes() {
  window_->timelineView().setNotes(notes_->model().notes());
  soon_.start();
}

void TraceStateStore::save() {
  soon_.stop();
  const TimelineView& view = window_->timelineView();
  if (identity_.isEmpty() || !view.timeline()) return;
  TraceMemory memory;
  memory.notes = notes_->model().notes();
  memory.rows = view.rows().kept();
  memory.view_start_ns = view.viewportModel().view().start_ns;
  memory.view_end_ns = view.viewportModel().view().endNs();
  memory.lane_height = view.rows().metrics().lane;
  memory.page = window_->pageInFront();
  const QString wrong = saveMemory(identity_, QString::fromStdString(view.timeline()->path), memory);
  if (!wrong.isEmpty()) window_->showRemark(wrong);
}

void TraceStateStore::restore() {
  TimelineView& view = window_->timelineView();
  if (!view.timeline()) return;
  identity_ = identityOf(*view.timeline());
  const auto memory = loadMemory(identity_);
  if (!memory) return;
  notes_->model().setNotes(memory->notes);
  view.restoreRows(memory->rows, memory->lane_height);
  const double span = memory->view_end_ns - memory->view_start_ns;
  if (span > 0) view.placeView(memory->view_start_ns, span / std::max(1, view.geometryNow().laneWidth()));
  if (!window_->isComparing()) window_->showPageAt(memory->page);
}

}  // namespace pitwall::gui
