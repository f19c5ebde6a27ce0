// Storages of several devices, without a session.
#include "runtime/session/device_storages.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace pitwall::session::device_storages_test {
namespace {

class DeviceStoragesTest : public testing::Test {
 protected:
  DeviceStoragesTest() { EXPECT_TRUE(storages_.open({}).has_value()); }

  Block allocate(Device device, Bytes size) {
    const auto storage = storages_.of(device);
    EXPECT_TRUE(storage.has_value());
    auto block = (*storage)->allocate(size, MemoryTag::data);
    EXPECT_TRUE(block.has_value());
    return std::move(block).value();
  }

  Profiler profiler_;
  DeviceStorages storages_{profiler_};
};

TEST_F(DeviceStoragesTest, ThePeakIsThatOfAllDevicesTogether) {
  { const Block first = allocate(cpu(0), 1000); }
  {
    const Block here = allocate(cpu(0), 200);
    const Block there = allocate(cpu(1), 700);
    EXPECT_EQ(storages_.hostPeakBytes(), 1000) << "never 1000 and 700 at once";
    const Block third = allocate(cpu(2), 300);
    EXPECT_EQ(storages_.hostPeakBytes(), 1200) << "more than any device has";
  }
  EXPECT_EQ(storages_.hostPeakBytes(), 1200);
  EXPECT_EQ((*storages_.of(cpu(0)))->total().peak_bytes, 1000) << "each keeps its account";
  EXPECT_EQ((*storages_.of(cpu(1)))->total().peak_bytes, 700);
}

TEST_F(DeviceStoragesTest, ADeviceThatCannotExistIsNamed) {
  const auto beyond = storages_.of(cpu(kMaxDevices));
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().code, ErrorCode::invalidInput);
  EXPECT_EQ(beyond.error().message, "device cpu(64): the index must be in 0..63");
}

}  // namespace
}  // namespace pitwall::session::device_storages_test
