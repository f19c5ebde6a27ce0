// Page faults of unified memory from an Nsight Systems export.
#pragma once

#include "db/import/nsys/nsight_rows.h"

namespace pitwall::import {

// Those of GPUs become ranges on a row of the device, value = faults, those of the host instants. Errors: corruptTrace,
// cancelled.
Status readNsightPageFaults(NsightRows& rows);

}  // namespace pitwall::import
