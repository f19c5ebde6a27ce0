// The options of pitwall-gui's command line.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>

#include "db/export.h"
#include "gui/app/theme.h"

namespace pitwall::gui {

struct CommandLine {
  QStringList files;  // none, one, two to compare, or more
  QString export_to;  // empty: show a window
  std::optional<ExportRange> range;
  QString select;    // an event's name, or its id as SQL has it
  QString page;      // shown first: "timeline", "compare", ...
  QString simulate;  // changes; the page Simulation is shown
  std::optional<Theme> theme;
  bool merge = false;        // the files into one timeline
  bool color_blind = false;  // events in colours for every eye
  QSize size;                // of the window; invalid: the last size
  QString remark;            // printed instead of anything else: --help, --version
};

// Errors: invalidInput. `arguments` begin with the program's name; Qt's own options are already removed.
Result<CommandLine> parseCommandLine(const QStringList& arguments, const QString& version);

// Options that Qt needs before there is an application: --scale; and with --export and no display, the
// offscreen platform. False, with a remedy in `what`, where a window is requested and there is no display.
bool prepareEnvironment(int argc, char** argv, QString& what);

}  // namespace pitwall::gui
