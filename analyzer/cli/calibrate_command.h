// `pitwall env --calibrate`: measures the machine's roofline and stores it.
#pragma once

namespace pitwall::cli {

// Prints the measured values and the path of the file. Returns an exit code.
int calibrate();

}  // namespace pitwall::cli
