// The recording of this process: begins at the first call from NVTX or CUDA, ends with the process. In a
// forked child that calls NVTX a new one begins, into a separate file.
#pragma once

#include "runtime/profiler.h"

namespace pitwall::inject {

// Begins the recording unless it has begun. Returns the profiler, or nullptr: it could not begin (reported on
// stderr, once) or has ended. The profiler lives to the end of the process.
Profiler* begin();

// Ends it with the process: all records are in the file afterwards. Not in a forked child (or one of vfork(), which shares its
// parent's memory) that did not begin one itself.
void end() noexcept;

// Writes a sentence for the user to stderr and to the trace's notes.
void printNote(std::string_view sentence);

}  // namespace pitwall::inject
