// `pitwall env --calibrate`: measures the machine's roof and keeps it.
#pragma once

namespace pitwall::cli {

// Prints what was measured and where it is kept. Returns an exit code.
int calibrate();

}  // namespace pitwall::cli
