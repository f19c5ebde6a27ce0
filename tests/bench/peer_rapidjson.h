// RapidJSON on the same file, to compare with; where it is not installed, peer_none.cpp stands in.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::bench {

bool hasRapidJson();

// The number of values that the SAX parser hands over, -1 when it refuses the file. Reads in pieces of 1 MiB.
std::int64_t rapidJsonValues(const std::string& path);

}  // namespace pitwall::bench
