// Which server has which part of a key.
#include <gtest/gtest.h>

#include "runtime/kvstore/async_store.h"

namespace pitwall::test::key_parts_test {
namespace {

using kvstore::KeyPart;
using kvstore::partsOnServers;

// MXNet's kvstore_dist.h: (key * 9973) % servers.
TEST(KeyParts, SmallKeysAreSpreadOverServersByTheirNumber) {
  for (int servers = 1; servers <= 5; ++servers)
    for (std::int64_t key = 0; key < 40; ++key) {
      const auto parts = partsOnServers(key, 99, servers, 100);
      ASSERT_EQ(parts.size(), 1U);
      EXPECT_EQ(parts[0].server, key * 9973 % servers);
      EXPECT_EQ(parts[0].begin, 0);
      EXPECT_EQ(parts[0].count, 99);
    }
  EXPECT_GE(partsOnServers(-3, 1, 4, 100)[0].server, 0);
}

TEST(KeyParts, FromTheBoundOnAllServersHaveAPart) {
  for (int servers = 2; servers <= 5; ++servers)
    for (const std::int64_t elements : {100, 101, 1466521}) {
      const auto parts = partsOnServers(7, elements, servers, 100);
      ASSERT_EQ(parts.size(), static_cast<std::size_t>(servers));
      std::int64_t next = 0;
      for (int server = 0; server < servers; ++server) {
        const KeyPart& part = parts[static_cast<std::size_t>(server)];
        EXPECT_EQ(part.server, server);
        EXPECT_EQ(part.begin, next);
        EXPECT_LE(std::abs(part.count - elements / servers), 1);
        next += part.count;
      }
      EXPECT_EQ(next, elements);
    }
}

TEST(KeyParts, FewerElementsThanServersLeaveServersWithoutAPart) {
  EXPECT_EQ(partsOnServers(0, 2, 3, 1).size(), 2U);
}

}  // namespace
}  // namespace pitwall::test::key_parts_test
