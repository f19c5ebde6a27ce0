// How many threads work on how large an array.
#pragma once

#include <cstdint>

namespace pitwall::kvstore {

struct SumThreads {
  int threads = 1;
  std::int64_t parallel_from = 1000000;  // elements; fewer are worked on by the calling thread
};

}  // namespace pitwall::kvstore
