// What leaves the viewer as files: pictures, and a stretch of time as a trace of its own.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>

#include "gui/app/trace_session.h"
#include "gui/views/timeline_scene.h"

namespace pitwall::gui {

// A picture of a widget: SVG when the name ends so, else PNG. False when it cannot be written.
bool savePicture(QWidget& widget, const QString& path);

// Writes the events of that range as a trace on the session's thread, then calls `done` on the caller's:
// with an empty text, or what went wrong. Not called when `owner` is gone by then.
void exportRange(TraceSession& session, const TimeRange& range, const QString& path, QObject* owner,
                 std::function<void(const QString& error, qlonglong events)> done);

}  // namespace pitwall::gui
