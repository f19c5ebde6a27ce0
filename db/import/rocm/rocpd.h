// Whether a database is one of rocprofv3 (rocpd).
#pragma once

#include <string_view>

#include "db/sqlite/foreign.h"

namespace pitwall::import {

bool isRocpd(const store::ForeignDatabase& database);
// From the first bytes, which hold the list of tables.
bool isRocpdStart(std::string_view start);

}  // namespace pitwall::import
