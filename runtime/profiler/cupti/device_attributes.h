// What the driver reports of devices. CUPTI has a record of each too, but may deliver none, or leave fields 0.
#pragma once

#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// Fills in what is unknown (0 or empty) of device `facts.index`. Without a loaded driver nothing changes.
void addAttributes(DeviceFacts& facts);

}  // namespace pitwall::cupti
