// Operators by which a key-value store exchanges arrays between processes, by their names. They complete asynchronously: their time is
// that until the exchange is over, and no thread's.
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

}  // namespace pitwall::analysis
