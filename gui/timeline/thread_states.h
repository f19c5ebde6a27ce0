// What sampled threads do at each time, as a lane for each: running, waiting for a CPU, waiting for a lock and so on.
#pragma once

#include <string_view>

#include "gui/timeline/palette.h"
#include "gui/timeline/timeline.h"

namespace pitwall::gui {

// In the order of the colours kStateColor and on.
enum class ThreadActivity : std::uint8_t {
  running,
  spinning,  // uses a CPU to wait: the innermost function of its stack is one that does nothing else
  ready,     // could run and has no CPU for most of the time until the next sample
  lock,
  waiting,  // for work, a result, events, another thread or process
  sleeping,
  storage,
  kernel,  // not interruptible, otherwise: page faults from files, opening, deleting
  stopped,
};
inline constexpr int kThreadActivities = kStateColors;

// "waits for a lock".
const char* describe(ThreadActivity activity);
ThreadActivity activityAt(const Lane& states, std::size_t i);

// Whether a function only waits, with the processor busy: of OpenMP's runtimes and of the C++ and pthread library.
bool isSpinFunction(std::string_view function);

// Of the recorder's counters of one thread (docs/recording.md); `waiting` may be empty: then nothing is known to be ready. `spins`: moments at
// which a stack was sampled, 1 where it spins. Samples of equal activity are one event. A sample holds until the next one, the last one for as long
// as the one before it.
Lane statesOf(const CounterSeries& state, const CounterSeries& waiting, const CounterSeries& spins);

// Fills TimelineTrack::states of all threads that have samples; reads the stacks of those. Tracks are arranged (track_rows.h).
Status addThreadStates(Trace& trace, Timeline& timeline);

}  // namespace pitwall::gui
