// What a key-value store between processes has in a trace, by its names. The operators by which it exchanges arrays complete
// asynchronously: their time is that until the exchange is over, and no thread's.
#pragma once

#include <string_view>

namespace pitwall::analysis {

// Of MXNet's stores and of Pitwall's.
inline bool isStoreExchange(std::string_view operator_name) {
  return operator_name.starts_with("KVStoreDist");
}

// Those in which all ranks meet; others are requests to servers.
inline bool isOfAllRanks(std::string_view operator_name) {
  return operator_name == "KVStoreDistAllReduce" || operator_name == "KVStoreDistGather" ||
         operator_name == "KVStoreDistBroadcast";
}

// The thread of a server, which answers the workers' requests.
inline bool isStoreServer(std::string_view track_name) { return track_name.starts_with("kvstore server"); }

}  // namespace pitwall::analysis
