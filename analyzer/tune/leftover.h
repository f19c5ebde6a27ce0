// Processes of a trial that outlive a killed search, and would disturb the one that continues it.
#pragma once

#include <sys/types.h>

#include <string>

namespace pitwall::tuning {

// The variable that all trials have; a process without it is never ended here.
inline constexpr char kTrialVariable[] = "PITWALL_TRIAL";

// Notes the process group of a trial in a file, before the trial starts. Without the file nothing is ended later.
void noteGroup(const std::string& file, pid_t group);

// Ends what is left of the group that the file names, and waits until it has ended (10 s at most): files of the killed
// search stay locked until then.
void endLeftover(const std::string& file);

}  // namespace pitwall::tuning
