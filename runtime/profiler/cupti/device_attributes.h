// What the driver reports of devices: CUPTI leaves some of it 0.
#pragma once

#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// Fills in what is 0 of device `facts.index`. Without a loaded driver nothing changes.
void addAttributes(DeviceFacts& facts);

}  // namespace pitwall::cupti
