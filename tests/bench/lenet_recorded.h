// The cost of recording in LeNet's steps: a process that records compared with one that does not.
#pragma once

#include <string>

namespace pitwall::bench {

// Child's side: runs blocks of steps on the parent's request.
int runBlocks();

// Parent's side; `self` is this program, `inject` the injection library.
void reportRecording(const std::string& self, const std::string& inject);

}  // namespace pitwall::bench
