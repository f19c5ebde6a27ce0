// Converts CUPTI's records to activities. A function of the records alone, but for the names that it has met.
#pragma once

#include <cupti.h>

#include "runtime/profiler/cupti/activity.h"
#include "runtime/profiler/cupti/names.h"

namespace pitwall::cupti {

// Adds the record's activity. Its times are on the recorder's clock; its texts belong to `names`.
void convert(const CUpti_Activity& record, Names& names, Activities& into);

}  // namespace pitwall::cupti
