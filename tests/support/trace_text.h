// Traces as readable text, for tests: parsed into any TraceSink.
//
//   meta KEY VALUE                          VALUE may hold blanks
//   setting NAME VALUE SOURCE               VALUE - is empty; SOURCE default, environment or program
//   tunable NAME VALUE MIN MAX SOURCE
//   iteration TIME ITEMS                    a mark; indices count up
//   op LAYER TYPE PHASE START DUR [pushed=T] [after=LAYER|...] [on=THREAD] [flop=N] [read=BYTES] [written=BYTES]
//      [shapes=S] [dtype=T] [backend=B] [impl=I] [rank=N]
//   span KIND START DUR [on=THREAD] [name=NAME] [value=N] [rank=N]
//                                           KIND data_wait, data_work, wait, bulk, scope, communication, recorder; its name too
//   work KIND NAME START DUR [launch=T] [call=DUR] [api=NAME] [gpu=N] [stream=N] [rank=N] [bytes=N]
//      [args=JSON] [grid=BLOCKS]
//                                           KIND kernel, copy, communication; launch= adds the call on "main"
//                                           that launched it, as long as call= says (5us) and named as api=
//                                           says; launch=last: launched by the call that was added last;
//                                           calls=THREAD: the call is on that track; of=LAYER: by that operator, as
//                                           a dependency says
//   call NAME START DUR [on=THREAD]         a call of a library
//   range NAME START DUR [on=THREAD] [gpu=N]  a named scope; gpu=: an annotation on that device
//   counter NAME UNIT TIME VALUE [on=THREAD] [of=PROCESS] [within=THREAD]
//                                           of=: a process other than the program, by name; on=: a thread
//                                           without events, within=: one with them
//   stack TIME FUNCTION[@LIBRARY][;FUNCTION...] [on=THREAD] [of=PROCESS]
//                                           a sample of what a thread executes, the outermost function first
//   loss FROM TO COUNT REASON
//   incomplete                              as after a kill: the trace is not finished
//   repeat N PERIOD ... end                 the lines between, N times, each PERIOD later
//
// Times: 3ms, 12us, 500ns, 1s, 0. Inside repeat a time may be a list a|b|c: the repetitions take its entries
// in turn. Operators run on "cpu worker 0", spans on "main" unless `on=` says otherwise (blanks in names as
// '_'; in I and the names of work, calls, ranges and counters as '~'). on=cpu_1_asynchronous is a track without a thread,
// on=calls_of_X another track of the thread X. after=LAYER depends on the last operator of that layer before.
// '#' starts a comment.
#pragma once

#include <string>
#include <string_view>

#include "db/result.h"
#include "db/sink.h"

namespace pitwall::test {

// Errors: invalidInput with the line's number. The sink is finished unless the text says incomplete; then
// flushed.
Status writeTraceText(std::string_view text, TraceSink& sink);

// Creates the trace file PATH from it.
Status makeTraceFile(std::string_view text, const std::string& path);

}  // namespace pitwall::test
