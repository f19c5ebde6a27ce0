// The recording of this process: begins when NVTX or CUDA first calls, ends when the process does. In a
// forked child that calls NVTX a new one begins, into a file of its own.
#pragma once

#include "runtime/profiler.h"

namespace pitwall::inject {

// Begins unless it has begun. The profiler that records, or nullptr: it could not begin (said on stderr,
// once) or has ended. It stays to the end of the process.
Profiler* begin();

// Ends it: all that was recorded is in the file afterwards. Not in a forked child (or vfork()'s, which shares
// its parent's memory) that did not begin one itself.
void end() noexcept;

// A sentence for the user: on stderr and in the trace's notes.
void say(std::string_view sentence);

}  // namespace pitwall::inject
