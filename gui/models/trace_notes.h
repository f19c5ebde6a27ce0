// The user's additions to a trace: notes and bookmarks on times, and the state of rows and view. Stored in
// one file per trace in the user's data folder, never in the trace. Plain values; no widgets.
#pragma once

#include <QJsonObject>
#include <QString>
#include <optional>
#include <vector>

#include "gui/timeline/row_layout.h"

namespace pitwall::gui {

struct Note {
  TimeNs from_ns = 0, to_ns = 0;  // equal: a bookmark on a moment
  QString text;
  friend bool operator==(const Note&, const Note&) = default;
};

struct TraceMemory {
  std::vector<Note> notes;  // by time
  RowsKept rows;
  double view_start_ns = 0, view_end_ns = 0;  // the same: no view is kept
  int lane_height = 0;                        // 0: as it comes
  int page = 0;                               // in front
};

// What identifies this trace wherever its file is: times, numbers of events and tracks, processes;
// of a recording that is not finished, its path.
QString identityOf(const Timeline& timeline);

// The file of that trace, in the user's data folder.
QString memoryPath(const QString& identity);

QJsonObject toJson(const TraceMemory& memory);
TraceMemory fromJson(const QJsonObject& json);  // what it does not understand is left out

// Empty when there is none or it is damaged.
std::optional<TraceMemory> loadMemory(const QString& identity);
// Empty text when done, else what went wrong. Never leaves a partial file.
QString saveMemory(const QString& identity, const QString& trace_path, const TraceMemory& memory);

}  // namespace pitwall::gui
