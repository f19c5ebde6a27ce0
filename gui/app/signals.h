// SIGINT, SIGTERM and SIGHUP end the viewer as closing its window does: temporary folders are removed, notes are saved.
#pragma once

namespace pitwall::gui {

// From now on the first of them ends the application's event loops; a second one kills. Call once, with an application.
void quitOnSignals();

// 0: none has come.
int signalReceived();

}  // namespace pitwall::gui
