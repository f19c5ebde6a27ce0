// Converts CUPTI's records to activities. A pure function of the records: no call of CUPTI, no state.
#pragma once

#include <cupti.h>

#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// CUPTI's name of an API function ("cudaLaunchKernel_v7000"); nullptr when it has none.
using ApiName = const char* (*)(CUpti_CallbackDomain domain, CUpti_CallbackId id);

// Adds the record's activity. Its times are on the recorder's clock.
void convert(const CUpti_Activity& record, ApiName api_name, Activities& into);

// Without the version that CUPTI appends to a name: "cudaMalloc_v3020" -> "cudaMalloc"; "cuMemAlloc_v2", the
// function's own name, stays.
std::string withoutVersion(std::string name);

}  // namespace pitwall::cupti
