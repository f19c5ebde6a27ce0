#include "tests/bench/peer_rapidjson.h"

namespace pitwall::bench {

bool hasRapidJson() { return false; }
std::int64_t rapidJsonValues(const std::string&) { return -1; }

}  // namespace pitwall::bench
