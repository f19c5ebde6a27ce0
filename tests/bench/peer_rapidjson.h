// RapidJSON on the same file, to compare with. Built only where RapidJSON is installed.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::bench {

// The number of values that the SAX parser hands over, -1 when it refuses the file. Reads in pieces of 1 MiB.
std::int64_t rapidJsonValues(const std::string& path);
// The same from memory, unescaping in place: its fastest way.
std::int64_t rapidJsonValuesInPlace(std::string text);

}  // namespace pitwall::bench
