// Ctrl-C.
#pragma once

namespace pitwall::cli {

inline constexpr int kInterrupted = 130;  // exit code: 128 + SIGINT, as shells have it

// From now on SIGINT and SIGTERM end the command at once with kInterrupted, whatever it does or waits for, also where they
// were ignored; unfinished files are removed. Called before other threads are made. Not for a command that starts programs, which would
// get neither signal.
void endOnInterrupt();

}  // namespace pitwall::cli
