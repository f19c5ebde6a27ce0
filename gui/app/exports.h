// Files that the viewer exports: pictures, a time range as a new trace, and the report as a page.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>

#include "gui/models/trace_session.h"
#include "gui/views/timeline_scene.h"

namespace pitwall::gui {

// A picture of a widget: SVG when the name ends so, else PNG. False when it cannot be written.
bool savePicture(QWidget& widget, const QString& path);

// Writes the events of that range as a trace on the session's thread, then calls `done` on the caller's:
// with an empty text, or the error. Not called when `owner` is gone by then.
void exportRange(TraceSession& session, const TimeRange& range, const QString& path, QObject* owner,
                 std::function<void(const QString& error, qlonglong events)> done);

// Writes the page of `pitwall analyze --format html`: analyses again on the session's thread, as the page's timeline is read
// from the tables of the analysis. `done` as above.
void exportReport(TraceSession& session, const QString& path, QObject* owner,
                  std::function<void(const QString& error)> done);

}  // namespace pitwall::gui
