// Whether a database is one of nvprof or the NVIDIA Visual Profiler.
#pragma once

#include <string_view>

#include "db/sqlite/foreign.h"

namespace pitwall::import {

bool isNvprofDatabase(const store::ForeignDatabase& database);
// From the first bytes, which hold the list of tables.
bool isNvprofStart(std::string_view start);

}  // namespace pitwall::import
