// Facts of the machine and of the recording in an Nsight Systems export.
//
// Environment variables may hold secrets: only those that are known settings are read.
#pragma once

#include "db/import/nsys/nsight_rows.h"

namespace pitwall::import {

// Errors: corruptTrace, cancelled.
Status readNsightAbout(NsightRows& rows);

}  // namespace pitwall::import
