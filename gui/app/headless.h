// --export: a picture of the window, or tables, without showing a window.
#pragma once

#include "gui/app/command_line.h"

namespace pitwall::gui {

class MainWindow;

// The command line's options for a window: size, page, range, event. Call when the trace's findings are
// shown. An empty text, or the error.
QString applyToWindow(MainWindow& window, const CommandLine& line);

// Opens what it names and writes the file. The program's exit code: 0; 2 not written or not found; 3 a trace
// cannot be read (the picture is still written, with the window's message).
int exportAndExit(const CommandLine& line);

}  // namespace pitwall::gui
