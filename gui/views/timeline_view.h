// The timeline widget: shows a Timeline, zooms and pans by mouse and keyboard, selects events and ranges.
#pragma once

#include <QAbstractScrollArea>
#include <QTimer>

#include "gui/models/trace_notes.h"
#include "gui/models/view_text.h"
#include "gui/timeline/legend.h"
#include "gui/views/cursor_marks.h"
#include "gui/views/timeline_scene.h"

namespace pitwall::gui {

class LegendBar;

class TimelineView final : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);

  void setTimeline(std::shared_ptr<const Timeline> timeline);
  // The same trace, longer: view, rows and selection stay; a view of the trace's end stays at its end.
  void replaceTimeline(std::shared_ptr<const Timeline> timeline);
  void setMessage(const QString& message);  // shown while there is no timeline
  const std::shared_ptr<const Timeline>& timeline() const { return state_.timeline; }
  const Viewport& viewportModel() const { return viewport_; }
  const RowLayout& rows() const { return rows_; }
  const std::optional<EventRef>& selected() const { return state_.selected; }
  const std::optional<TimeRange>& range() const { return state_.range; }
  std::size_t focusedRow() const { return state_.focused_row; }
  SceneGeometry geometryNow() const;
  // Of the event in the viewport; empty when its row is not shown.
  QRectF rectOf(const EventRef& event) const { return TimelineScene::rectOf(event, geometryNow(), state_); }

  void select(std::optional<EventRef> event, bool reveal);
  void goTo(const EventRef& event);  // selects it and fits the view to it
  std::vector<std::size_t> tracksShown()
      const;  // of rows that are neither hidden, filtered out nor closed away
  void selectRange(std::optional<TimeRange> range);
  // Those of the selected range; all that are shown where it is of all rows.
  std::vector<std::size_t> tracksSelected() const;
  void setHighlighted(std::vector<EventRef> events);
  void setMarked(std::optional<TimeRange> range);  // with what is highlighted
  const std::optional<TimeRange>& marked() const { return state_.marked; }
  const std::vector<EventRef>& highlighted() const { return state_.highlighted; }
  void setHits(std::shared_ptr<const SearchHits> hits);  // of this timeline; null: none
  const std::shared_ptr<const SearchHits>& hits() const { return state_.hits; }
  const std::optional<TimeNs>& fixedCursor() const { return state_.fixed_cursor; }
  std::vector<CursorValue> valuesAtCursors() const { return cursorValues(geometryNow(), state_); }
  // Of the selected event, from what it waited for to it, and from it to what waited for it, the most important first.
  void setArrows(std::vector<std::pair<EventRef, EventRef>> arrows);
  const std::vector<std::pair<EventRef, EventRef>>& arrows() const { return state_.arrows; }
  // The lane above the rows; null or empty: none.
  void setCriticalPath(std::shared_ptr<const CriticalSteps> path);
  const std::shared_ptr<const CriticalSteps>& criticalPath() const { return state_.path; }
  bool pathOnly() const { return state_.path_only; }
  void setRowFilter(const QString& words);
  void setNotes(std::vector<Note> notes);
  void setMark(std::optional<TimeRange> mark);  // temporary; it is not saved
  const std::optional<TimeRange>& mark() const { return mark_; }
  void restoreRows(const RowsKept& kept, int lane_height);
  void focusTrack(std::size_t track);  // its row, in sight; shown again when it was hidden
  // Shown even where it was hidden or closed away, and the first of these tracks scrolled to.
  void revealTracks(const std::vector<std::size_t>& tracks);
  void setTitlesWidth(int width);  // 0: the default
  int titlesWidth() const { return titles_width_; }
  // The line below that says what the colours in view stand for. It follows the view after a moment; updateLegend() at once.
  void setLegendShown(bool shown);
  LegendBar& legend() { return *legend_; }
  QImage picture();                       // what is shown, for export
  QImage selectedPicture();               // of the selected range, else all that is shown
  ViewToDescribe viewToDescribe() const;  // there is a timeline
  void paintPicture(QPainter& painter);   // the same, to any device, in the size of the viewport

  // For two timelines that move together: the view exactly, and room for it beyond the trace.
  void placeView(double start_ns, double ns_per_px);
  void widenBounds(TimeNs begin_ns, TimeNs end_ns);

 public slots:
  void zoomIn() { zoomCentered(0.7); }
  void zoomOut() { zoomCentered(1 / 0.7); }
  void zoomInFast() { zoomCentered(1 / 3.0); }
  void zoomOutFast() { zoomCentered(3.0); }
  void panLeft() { pan(-0.1); }
  void panRight() { pan(0.1); }
  void showAll();
  void focusSelection();  // centres what is selected; again: fits it
  void fitEvent();        // selects the first event in sight of the row with the focus when none is selected
  void showTimes(qint64 from_ns, qint64 to_ns);
  void zoomToRange();
  void showEnd();  // of the trace, in the same scale
  void selectEventAsRange();
  void undoView();
  void redoView();
  void selectNext() { step(true, false); }
  void selectPrevious() { step(false, false); }
  void selectNextSame() { step(true, true); }
  void selectPreviousSame() { step(false, true); }
  void followForward() { follow(true); }
  void followBack() { follow(false); }
  void nextOnPath() { stepOnPath(true); }
  void previousOnPath() { stepOnPath(false); }
  void togglePathOnly();  // all else faded
  void selectParent();
  void selectChild();
  void rowUp() { moveRow(-1); }
  void rowDown() { moveRow(1); }
  void pageUp() { pageRows(-1); }
  void pageDown() { pageRows(1); }
  void togglePinned();
  void showInAllProcesses();  // the selected event, a collective for example: their rows on top of each other
  void toggleOpen();
  void hideRow();
  void showHiddenRows();
  void moveRowUp() { reorder(-1); }
  void moveRowDown() { reorder(1); }
  void openAll() { setAllOpen(true); }
  void closeAll() { setAllOpen(false); }
  void taller() { setLaneHeight(rows_.metrics().lane + 2); }
  void lower() { setLaneHeight(rows_.metrics().lane - 2); }
  void widerTitles() { resizeTitles(geometryNow().titles + kTitlesStep); }
  void narrowerTitles() { resizeTitles(geometryNow().titles - kTitlesStep); }
  void fitTitles();  // the longest title in sight fits
  // Where the mouse is, else in the middle of the view; removes the one that is there.
  void toggleCursor();
  void toggleGrid();
  // Of the row with the focus. Of a counter its greatest value: a cursor there, and the event selected that runs then and began last.
  // Of events the longest gap in view, as a range.
  void goToPeak();
  void clearSelection();  // the range first, then the event
  void updateLegend();

 signals:
  void eventSelected();
  void rangeSelected();
  void viewChanged();
  void activated();  // double click or Enter on an event
  void titlesResized(int width);
  void remarked(const QString& text);
  void nameActivated(const QString& name);  // in the legend: its events are to be marked

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  enum class Drag { none, range, pan, minimap, zoom, row, titles };
  static constexpr int kTitlesStep = 24;

  double laneX(const QPointF& at) const { return at.x() - geometryNow().titles; }
  // The lane there, and its place in `event`; null when there is none.
  const Lane* laneAt(const QPointF& at, EventRef& event) const;
  std::optional<Hit> hitAt(const QPointF& at, EventRef& event) const;
  void zoomCentered(double factor);
  void pan(double share);
  void step(bool forward, bool same_name);
  void follow(bool forward);
  void stepOnPath(bool forward);
  void selectOnPath(const EventRef& event);
  const CriticalStep* pathStepAt(const QPointF& at) const;  // in the lane above the rows; null: none
  std::optional<TimeNs> edgeAt(const QPointF& at) const;    // of the selected range
  void paintDraggedRange(QPainter& painter) const;
  void moveRow(int by);
  void reorder(int by);
  void setAllOpen(bool open);
  void setLaneHeight(int height);
  void pageRows(int by);
  int rowAtTitle(const QPointF& at) const;  // -1: not over a row's title
  bool onTitlesEdge(const QPointF& at) const;
  void resizeTitles(int width);
  int rowAtLanes(const QPointF& at) const;  // -1: not over a row
  std::vector<std::size_t> tracksBetween(int a, int b) const;
  std::vector<std::size_t> tracksDragged(const QPointF& at) const;
  void pressOnTitles(const QPointF& at);
  void dragRow(const QPointF& at);
  void releaseOnTitles(const QPointF& at);
  void hoverTitles(const QPointF& at);
  void hoverLanes(const QPointF& at);
  QString titleTipAt(const QPointF& at) const;
  QString stateTipAt(const QPointF& at) const;  // of the strip below a thread's lanes; empty: not over one
  void pressOnMinimap(double x);
  void dragOnMinimap(double x);
  double minimapTime(double x) const;
  void minimapTo(double x);
  // The time there, or the edge of an event of that lane when one is near; with Ctrl never.
  TimeNs timeNear(const QPointF& at, Qt::KeyboardModifiers modifiers) const;
  void pinchBy(const QPointF& at, double factor, bool begins);
  void changed();  // the view moved
  void rowsChanged();
  void selectLongestGap(const TimelineTrack& track);
  std::optional<EventRef> sameEvent(const Timeline& other, const EventRef& event) const;
  std::optional<TimeRange> sameRange(const Timeline& other) const;
  void revealRow(std::size_t row);
  QString tipAt(const QPointF& at) const;
  void makeLegend();
  void placeLegend();
  std::vector<LegendEntry> statesInView() const;  // of the threads in sight

  RowLayout rows_;
  Viewport viewport_;
  SceneState state_;
  TimelineScene scene_;
  Drag drag_ = Drag::none;
  QPointF pressed_, last_;
  TimeNs range_anchor_ = 0;
  int row_anchor_ = -1;                   // where the drag of a range began; -1: it is of all rows
  std::vector<std::size_t> kept_tracks_;  // of a range whose edge is dragged
  int titles_width_ = 0;                  // 0: the default
  bool space_ = false, row_moved_ = false, pinching_ = false;
  std::optional<double> minimap_grab_;  // where the minimap's frame is dragged, from its middle
  LegendBar* legend_ = nullptr;
  QTimer legend_pause_;
  bool legend_wanted_ = false;
  struct Followed {
    EventRef from, to;
    bool forward;
  };
  std::vector<Followed> followed_;    // the way to the selected event
  bool arrows_known_ = false;         // of the selected event
  std::optional<bool> follow_asked_;  // forward or not, before they are known
  std::vector<Note> notes_;
  std::optional<TimeRange> mark_;
  std::optional<EventRef> focused_;  // what focusSelection() last centred
};

}  // namespace pitwall::gui
