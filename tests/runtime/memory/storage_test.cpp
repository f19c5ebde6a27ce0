#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "runtime/memory.h"

namespace pitwall::storage_test {
namespace {

std::unique_ptr<Storage> open(PoolType pool, std::shared_ptr<SystemMemory> system = nullptr) {
  StorageOptions options;
  options.pool = pool;
  options.round_linear_cutoff = 20;
  options.system = std::move(system);
  auto storage = Storage::open(options);
  EXPECT_TRUE(storage.has_value());
  return std::move(storage).value();
}

Block take(Storage& storage, Bytes size, MemoryTag tag = MemoryTag::other) {
  auto block = storage.allocate(size, tag);
  EXPECT_TRUE(block.has_value()) << block.error().message;
  return std::move(block).value();
}

// The address of a block of `second` bytes after one of `first` bytes was freed.
std::pair<void*, void*> twice(Storage& storage, Bytes first, Bytes second) {
  void* const before = take(storage, first).data();
  return {before, take(storage, second).data()};
}

// A system with a limit, which counts its allocations.
class Limited : public SystemMemory {
 public:
  explicit Limited(Bytes limit) : left_(limit) {}
  ~Limited() override { EXPECT_TRUE(alive_.empty()); }
  void* allocate(Bytes size) override {
    if (size > left_) return nullptr;
    left_ -= size;
    void* data = nullptr;
    EXPECT_EQ(posix_memalign(&data, 64, static_cast<std::size_t>(size)), 0);
    alive_.insert(data);
    return data;
  }
  void free(void* data, Bytes size) override {
    EXPECT_EQ(alive_.erase(data), 1U);
    left_ += size;
    std::free(data);
  }
  std::size_t alive() const { return alive_.size(); }

 private:
  Bytes left_;
  std::set<void*> alive_;
};

class AnyPool : public testing::TestWithParam<PoolType> {};
INSTANTIATE_TEST_SUITE_P(
    Pools, AnyPool, testing::Values(PoolType::naive, PoolType::round, PoolType::unpooled), [](const auto& p) {
      return p.param == PoolType::naive ? "Naive" : p.param == PoolType::round ? "Round" : "Unpooled";
    });

TEST_P(AnyPool, KeepsSizeAndAligns) {
  const auto storage = open(GetParam());
  for (const Bytes size : {1, 63, 64, 65, 4095, 4097, 1 << 20, (3 << 20) + 5}) {
    const Block block = take(*storage, size);
    EXPECT_EQ(block.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0U) << size;
    std::memset(block.data(), 0x5a, static_cast<std::size_t>(size));
  }
}

TEST_P(AnyPool, SizeZeroIsNull) {
  const auto storage = open(GetParam());
  const Block block = take(*storage, 0);
  EXPECT_EQ(block.data(), nullptr);
  EXPECT_EQ(block.size(), 0);
  EXPECT_EQ(storage->total().live_blocks, 0);
}

TEST_P(AnyPool, RefusesImpossibleSizes) {
  const auto storage = open(GetParam());
  const auto negative = storage->allocate(-1, MemoryTag::data);
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().code, ErrorCode::invalidInput);
  const auto huge = storage->allocate(INT64_MAX, MemoryTag::gradients);
  ASSERT_FALSE(huge.has_value());
  EXPECT_EQ(huge.error().code, ErrorCode::io);
  EXPECT_NE(huge.error().message.find("9223372036854775807 bytes of gradients"), std::string::npos);
}

TEST_P(AnyPool, CountsLiveAndPeakPerTag) {
  const auto storage = open(GetParam());
  {
    const Block weights = take(*storage, 100, MemoryTag::weights);
    {
      const Block more = take(*storage, 1000, MemoryTag::weights);
      const Block other = take(*storage, 10, MemoryTag::activations);
      EXPECT_EQ(storage->usage(MemoryTag::weights).live_bytes, 1100);
      EXPECT_EQ(storage->usage(MemoryTag::weights).live_blocks, 2);
      EXPECT_EQ(storage->total().live_bytes, 1110);
    }
    const Block late = take(*storage, 500, MemoryTag::activations);
    EXPECT_EQ(storage->usage(MemoryTag::weights).live_bytes, 100);
    EXPECT_EQ(storage->usage(MemoryTag::weights).peak_bytes, 1100);
    EXPECT_EQ(storage->usage(MemoryTag::activations).peak_bytes, 500);
    EXPECT_EQ(storage->total().live_bytes, 600);
  }
  // The peak of the sum, not the sum of peaks.
  EXPECT_EQ(storage->total().peak_bytes, 1110);
  EXPECT_EQ(storage->total().live_bytes, 0);
  EXPECT_EQ(storage->total().live_blocks, 0);
}

TEST_P(AnyPool, MovingABlockKeepsItOnce) {
  const auto storage = open(GetParam());
  Block a = take(*storage, 100);
  void* const data = a.data();
  Block b = std::move(a);
  EXPECT_EQ(b.data(), data);
  Block c = take(*storage, 200);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(storage->total().live_bytes, 100);
  Block& self = c;
  c = std::move(self);
  EXPECT_EQ(c.data(), data);
}

TEST_P(AnyPool, GivesEverythingBackToTheSystem) {
  const auto system = std::make_shared<Limited>(1 << 30);
  {
    const auto storage = open(GetParam(), system);
    for (Bytes size = 1; size < 1'000'000; size = size * 3 + 1) {
      const Block one = take(*storage, size), two = take(*storage, size);
    }
    storage->releaseCache();
    EXPECT_EQ(system->alive(), 0U);
    EXPECT_EQ(storage->cachedBytes(), 0);
    take(*storage, 77);
  }
  EXPECT_EQ(system->alive(), 0U);
}

TEST_P(AnyPool, ReleasesTheCacheAndTriesAgain) {
  const auto system = std::make_shared<Limited>(10 << 20);
  const auto storage = open(GetParam(), system);
  { const Block block = take(*storage, 6 << 20); }
  const Block bigger = take(*storage, 8 << 20, MemoryTag::workspace);  // does not fit beside the cached 6 MiB
  const auto refused = storage->allocate(8 << 20, MemoryTag::workspace);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_NE(refused.error().message.find("8388608 bytes of workspace"), std::string::npos);
  EXPECT_EQ(storage->total().live_bytes, 8 << 20);
}

TEST_P(AnyPool, ManyThreadsNeverShareABlock) {
  const auto storage = open(GetParam());
  const auto work = [&storage](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Block> blocks(16);
    for (int i = 0; i < 3000; ++i) {
      Block& place = blocks[random() % blocks.size()];
      if (place.data() != nullptr) {
        const auto* bytes = static_cast<const unsigned char*>(place.data());
        ASSERT_EQ(bytes[0], seed);
        ASSERT_EQ(bytes[place.size() - 1], seed);
      }
      place = take(*storage, static_cast<Bytes>(random() % 9000 + 1),
                   static_cast<MemoryTag>(random() % static_cast<unsigned>(MemoryTag::count)));
      std::memset(place.data(), static_cast<int>(seed), static_cast<std::size_t>(place.size()));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  }
  EXPECT_EQ(storage->total().live_bytes, 0);
  EXPECT_EQ(storage->total().live_blocks, 0);
  EXPECT_GT(storage->total().peak_bytes, 0);
}

TEST(NaivePool, ReusesABlockOfTheSameSize) {
  const auto storage = open(PoolType::naive);
  const auto same = twice(*storage, 1 << 20, 1 << 20);
  EXPECT_EQ(same.first, same.second);
  EXPECT_EQ(storage->cachedBytes(), 1 << 20);
  const Block small = take(*storage, 4096);  // another size: the cached block is not touched
  EXPECT_NE(small.data(), same.first);
  EXPECT_EQ(storage->cachedBytes(), 1 << 20);
}

TEST(NaivePool, RoundsToPagesAndLargeBlocksToLargeSteps) {
  const auto storage = open(PoolType::naive);
  const auto page = twice(*storage, 1, 4096);
  EXPECT_EQ(page.first, page.second);
  const auto large = twice(*storage, (2 << 20) + 1, 4 << 20);
  EXPECT_EQ(large.first, large.second);
  const Block exact = take(*storage, 2 << 20);
  EXPECT_NE(exact.data(), large.first);
}

TEST(RoundPool, SharesABucketOfAPowerOfTwo) {
  const auto storage = open(PoolType::round);
  const auto small = twice(*storage, 32, 4095);
  EXPECT_EQ(small.first, small.second);
  const auto medium = twice(*storage, 513 << 10, 1 << 20);
  EXPECT_EQ(medium.first, medium.second);
}

TEST(RoundPool, IsLinearAboveTheCutoff) {
  const auto storage = open(PoolType::round);
  const auto large = twice(*storage, 2097153, 3145728);
  EXPECT_EQ(large.first, large.second);
  EXPECT_EQ(storage->cachedBytes(), 3 << 20);
}

TEST(Unpooled, KeepsNothing) {
  const auto storage = open(PoolType::unpooled);
  { const Block block = take(*storage, 1 << 20); }
  EXPECT_EQ(storage->cachedBytes(), 0);
}

TEST(StorageObserverTest, HearsOfEveryChange) {
  class Heard : public StorageObserver {
   public:
    void usageChanged(const Storage& storage, MemoryTag tag) override {
      changes.push_back(toString(tag) + std::string(" ") + std::to_string(storage.usage(tag).live_bytes));
    }
    void reservedChanged(const Storage& storage) override {
      changes.push_back("reserved " + std::to_string(storage.reservedBytes()));
    }
    std::vector<std::string> changes;
  } heard;
  StorageOptions options;
  options.observer = &heard;
  {
    auto storage = Storage::open(options).value();
    { const Block block = take(*storage, 100); }
    const Block again = storage->allocate(200, MemoryTag::weights).value();  // from the pool
    { const Block larger = storage->allocate(5000, MemoryTag::data).value(); }
    storage->releaseCache();
    EXPECT_EQ(storage->reservedBytes(), 4096);
  }
  EXPECT_EQ(heard.changes, (std::vector<std::string>{"reserved 4096", "other 100", "other 0", "weights 200",
                                                     "reserved 12288", "data 5000", "data 0", "reserved 4096",
                                                     "weights 0", "reserved 0"}));
}

TEST(StorageDeathTest, ABlockMustNotOutliveItsStorage) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto storage = open(PoolType::naive);
        auto* leaked = new Block(take(*storage, 100));
        storage.reset();
        delete leaked;
      },
      "1 blocks of 100 bytes outlive their storage");
}

TEST(StorageOptions, ComeFromSettings) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const auto settings = Settings::fromValues(Pairs{{"MXNET_CPU_MEM_POOL_TYPE", "Round"},
                                                   {"MXNET_CPU_MEM_POOL_PAGE_SIZE", "8192"},
                                                   {"MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "22"}});
  ASSERT_TRUE(settings.has_value());
  const auto options = StorageOptions::fromSettings(*settings);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->pool, PoolType::round);
  EXPECT_EQ(options->page_bytes, 8192);
  EXPECT_EQ(options->round_linear_cutoff, 22);
  EXPECT_EQ(options->large_round_bytes, 2 << 20);
  EXPECT_EQ(options->reserve_percent, 5);

  const auto reserves = Settings::fromValues(
      Pairs{{"MXNET_CPU_MEM_POOL_RESERVE", "7"}, {"MXNET_CPU_PINNED_MEM_POOL_RESERVE", "9"}});
  ASSERT_TRUE(reserves.has_value());
  EXPECT_EQ(StorageOptions::fromSettings(*reserves)->reserve_percent, 7);
  EXPECT_EQ(StorageOptions::fromSettings(*reserves, DeviceKind::pinned)->reserve_percent, 9);

  const auto uneven = Settings::fromValues(
      Pairs{{"MXNET_CPU_MEM_POOL_TYPE", "Round"}, {"MXNET_CPU_MEM_POOL_PAGE_SIZE", "5000"}});
  ASSERT_TRUE(uneven.has_value());
  const auto refused = StorageOptions::fromSettings(*uneven);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("MXNET_CPU_MEM_POOL_PAGE_SIZE=5000"), std::string::npos);

  const auto naive = Settings::fromValues(
      Pairs{{"MXNET_CPU_MEM_POOL_TYPE", "Round"}, {"MXNET_USE_NAIVE_STORAGE_MANAGERS", "1"}});
  ASSERT_TRUE(naive.has_value());
  EXPECT_EQ(StorageOptions::fromSettings(*naive)->pool, PoolType::unpooled);

  const auto none = Settings::fromValues(Pairs{});
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(StorageOptions::fromSettings(*none)->pool, PoolType::naive);
}

TEST(StorageOptions, OutOfRangeIsRefused) {
  StorageOptions options;
  options.round_linear_cutoff = 35;
  EXPECT_FALSE(Storage::open(options).has_value());
  options = {};
  options.page_bytes = 0;
  EXPECT_FALSE(Storage::open(options).has_value());
}

TEST(DeviceStorage, IsOfItsDevice) {
  StorageOptions options;
  options.device = cpu(3);
  const auto storage = Storage::open(options);
  ASSERT_TRUE(storage.has_value());
  EXPECT_EQ((*storage)->device(), cpu(3));
  const auto refused = (*storage)->allocate(Bytes{1} << 62, MemoryTag::weights);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("weights on cpu(3)"), std::string::npos) << refused.error().message;
}

TEST(DeviceStorage, OfAnAbsentKindIsUnsupportedByName) {
  for (const Device device : {gpu(1), pinned(0)}) {
    StorageOptions options;
    options.device = device;
    const auto storage = Storage::open(options);
    ASSERT_FALSE(storage.has_value());
    EXPECT_EQ(storage.error().code, ErrorCode::unsupported);
    EXPECT_NE(storage.error().message.find(toString(device)), std::string::npos) << storage.error().message;
  }
}

}  // namespace
}  // namespace pitwall::storage_test
