// RapidJSON on the same file, for comparison; replaced by peer_none.cpp where it is not installed.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::bench {

bool hasRapidJson();

// The number of values that the SAX parser visits, -1 when it rejects the file. Reads in pieces of 1 MiB.
std::int64_t rapidJsonValues(const std::string& path);

}  // namespace pitwall::bench
