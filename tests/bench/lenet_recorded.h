// What recording adds to LeNet's steps: a process that records beside one that does not.
#pragma once

#include <string>

namespace pitwall::bench {

// Child's side: runs blocks of steps as the parent asks for them.
int runBlocks();

// Parent's side; `self` is this program, `inject` the injection library.
void reportRecording(const std::string& self, const std::string& inject);

}  // namespace pitwall::bench
