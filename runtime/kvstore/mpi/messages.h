// What workers and servers send each other. A request or reply is a header, and data of the size that it says, sent after it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/kvstore/servers.h"

namespace pitwall::kvstore::mpi {

constexpr int kRequestTag = 10, kRequestDataTag = 11, kReplyTag = 12, kReplyDataTag = 13;

struct RequestHeader {
  std::uint64_t number = 0;  // of the worker's requests to this server
  ServerRequest::Kind kind = ServerRequest::Kind::meet;
  std::uint32_t key = 0;
  float rate = -1;
  std::int64_t batch_size = 1;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;  // of the data
  char name[ServerRequest::kLongestName + 1] = "";
};

struct ReplyHeader {
  std::uint64_t number = 0;    // of the request
  std::int64_t bytes = 0;      // of the data
  std::int64_t staleness = 0;  // of a push: updates of the key since the worker's pull before it
  std::int64_t held_ns = 0;    // of a push: how long slower workers held up the reply
  char error[256] = "";        // "" = none
};

}  // namespace pitwall::kvstore::mpi
