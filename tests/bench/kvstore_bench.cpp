// How fast key-value stores sum, beside the least that it can take, measured in turns.
//
//   kvstore_bench              the store "local" over 4 devices of the CPU, beside memcpy() of as many bytes by as many threads
//   mpirun -n N kvstore_bench  the stores "dist_sync" and "horovod", beside MPI_Allreduce() on as many arrays; small keys with and without
//                              buckets
//
// Rates count what is read and written. The sum of 4 arrays moves 5; the copy moves as many bytes, so that both fit into the same cache.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "runtime/kvstore.h"
#include "runtime/kvstore/entry.h"
#include "runtime/kvstore/sum.h"
#include "tests/bench/kvstore_peer.h"
#include "tests/bench/must.h"
#include "tests/bench/paired_times.h"

namespace {

using namespace pitwall;

constexpr int kDevices = 4;
constexpr int kPairs = 15;
constexpr double kSeriesUs = 50'000;

NDArray filled(Session& session, std::int64_t elements, Device device) {
  const std::vector<float> values(static_cast<std::size_t>(elements), 1);
  return NDArray::fromValues(session, {elements}, values, MemoryTag::data, device);
}

void benchLocal(Session& session, std::int64_t elements) {
  const auto store = must(KVStore::create(session, "local"));
  must(store->init(0, filled(session, elements, cpu(0))));
  std::vector<NDArray> values;
  for (int device = 0; device < kDevices; ++device) values.push_back(filled(session, elements, cpu(device)));
  const auto sum = [&] {
    must(store->push(0, values));
    must(session.engine().waitForAll());
  };
  const std::int64_t copied = elements * (kDevices + 1) / 2;
  std::vector<float> from(static_cast<std::size_t>(copied), 1), to(from);
  const kvstore::SumThreads threads = kvstore::SumOptions::of(session).forArrays();
  const auto copy = [&] {
    kvstore::copyArray(
        from.data(), to.data(), copied,
        {.threads = elements < threads.parallel_from ? 1 : threads.threads, .parallel_from = 0});
    asm volatile("" : : "r"(to.data()) : "memory");
  };
  const PairedTimes times = pairedTimes(sum, copy, kPairs, kSeriesUs);
  const double megabytes = static_cast<double>(elements) * sizeof(float) / 1e6;
  const auto rate = [&](double us) { return (kDevices + 1) * 1e-3 * megabytes / (us * 1e-6); };
  fmt::print(
      "local, {:7.2f} MB: sum of {} {:8.1f} us, {:5.2f} GB/s; memcpy() {:8.1f} us, {:5.2f} GB/s: {:.2f} x\n",
      megabytes, kDevices, times.first_us, rate(times.first_us), times.second_us, rate(times.second_us),
      1 / times.ratio);
}

// Sums of many arrays, in place.
struct Keys {
  Keys(Session& session, KVStore& to, int count, std::int64_t elements) : store(to) {
    for (int key = 0; key < count; ++key) {
      arrays.push_back(filled(session, elements, cpu(0)));
      if (store.canOptimize()) must(store.init(key, arrays.back()));
    }
  }
  void sum() const {
    for (std::size_t key = 0; key < arrays.size(); ++key)
      must(store.pushPull(static_cast<int>(key), std::span(&arrays[key], 1), {}, -static_cast<int>(key)));
    for (const NDArray& array : arrays) must(array.waitToRead());
  }
  KVStore& store;
  std::vector<NDArray> arrays;
};

// All ranks make as many calls: no rank decides by its own clock.
PairedTimes fixedTimes(const auto& first, const auto& second, int calls) {
  std::vector<double> of_first, of_second, ratios;
  for (int pair = -2; pair < kPairs; ++pair) {
    const double a = bench::timeTogether(first, calls), b = bench::timeTogether(second, calls);
    if (pair < 0) continue;
    of_first.push_back(a), of_second.push_back(b), ratios.push_back(a / b);
  }
  const auto median = [](std::vector<double>& of) {
    std::ranges::sort(of);
    return of[of.size() / 2];
  };
  return {median(of_first), median(of_second), median(ratios)};
}

void benchDist(Session& session, const char* type, int count, std::int64_t elements) {
  const auto store = must(KVStore::create(session, type));
  const Keys keys(session, *store, count, elements);
  std::vector<std::vector<float>> plain(static_cast<std::size_t>(count),
                                        std::vector<float>(static_cast<std::size_t>(elements), 1));
  const auto own = [&] { keys.sum(); };
  const auto direct = [&] {
    for (auto& array : plain) bench::sumOverRanks(array);
  };
  const double megabytes = count * static_cast<double>(elements) * sizeof(float) / 1e6;
  const PairedTimes times = fixedTimes(own, direct, std::max(1, static_cast<int>(20 / megabytes)));
  if (store->rank() == 0)
    fmt::print("{}, {} ranks, {:4} arrays of {:9.1f} KB: {:9.1f} us; MPI_Allreduce() {:9.1f} us: {:.2f} x\n",
               store->type(), store->workers(), count, static_cast<double>(elements) * sizeof(float) / 1e3,
               times.first_us, times.second_us, 1 / times.ratio);
}

void benchBuckets(int count, std::int64_t elements) {
  const auto open = [](const char* bytes) {
    SessionOptions options;
    options.settings = {{"PITWALL_KVSTORE_BUCKET_BYTES", bytes}};
    return must(Session::open(options));
  };
  const auto with = open("4194304"), without = open("0");
  const auto store_with = must(KVStore::create(*with, "dist_sync"));
  const auto store_without = must(KVStore::create(*without, "dist_sync"));
  const Keys keys_with(*with, *store_with, count, elements),
      keys_without(*without, *store_without, count, elements);
  const PairedTimes times = fixedTimes([&] { keys_with.sum(); }, [&] { keys_without.sum(); }, 3);
  if (store_with->rank() == 0)
    fmt::print(
        "dist_sync, {} ranks, {} keys of {} bytes: {:.0f} keys/s with buckets, {:.0f} without: {:.1f} x\n",
        store_with->workers(), count, elements * 4, count / times.first_us * 1e6,
        count / times.second_us * 1e6, 1 / times.ratio);
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    fmt::print("usage: kvstore_bench, or mpirun -n N kvstore_bench\n");
    return 2;
  }
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) {
    const auto session = must(Session::open());
    for (const std::int64_t elements : {1 << 18, 1 << 20, 1 << 22, 1 << 24}) benchLocal(*session, elements);
    return 0;
  }
  const auto session = must(Session::open());
  for (const auto& [count, elements] :
       {std::pair(64, 1 << 14), std::pair(16, 1 << 18), std::pair(8, 1 << 20), std::pair(4, 1 << 22)})
    for (const char* type : {"dist_sync", "horovod"}) benchDist(*session, type, count, elements);
  benchBuckets(500, 256);
}
