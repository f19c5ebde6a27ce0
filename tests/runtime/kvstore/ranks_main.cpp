// Server processes of a job serve the cases that its workers run.
#include <gtest/gtest.h>

#include <cstdio>

#include "runtime/kvstore.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  {
    const auto session = pitwall::Session::open().value();
    const pitwall::Result<bool> served = pitwall::KVStore::serve(*session);
    if (!served.has_value()) {
      std::fprintf(stderr, "%s\n", served.error().message.c_str());
      return 1;
    }
    if (*served) return 0;
  }
  return RUN_ALL_TESTS();
}
