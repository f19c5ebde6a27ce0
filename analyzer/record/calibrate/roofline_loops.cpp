#include "analyzer/record/calibrate/roofline_loops.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pitwall::record {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr int kRounds = 4096;  // of a pass: some microseconds
constexpr int kChains = 12;    // independent: latency times width of every current processor

// Each does kRounds multiply-adds on kChains vectors and returns the operations; `sink` prevents the compiler
// from removing them.
double plainPass(float& sink) {
  float chains[kChains];
  for (int c = 0; c < kChains; ++c) chains[c] = static_cast<float>(c);
  for (int i = 0; i < kRounds; ++i) {
    for (float& chain : chains) chain = chain * 0.999F + 0.5F;
  }
  for (const float chain : chains) sink += chain;
  return 2.0 * kRounds * kChains;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double avx2Pass(float& sink) {
  const __m256 factor = _mm256_set1_ps(0.999F), term = _mm256_set1_ps(0.5F);
  __m256 chains[kChains];
  for (int c = 0; c < kChains; ++c) chains[c] = _mm256_set1_ps(static_cast<float>(c));
  for (int i = 0; i < kRounds; ++i) {
    for (int c = 0; c < kChains; ++c) chains[c] = _mm256_fmadd_ps(chains[c], factor, term);
  }
  for (int c = 0; c < kChains; ++c) sink += _mm256_cvtss_f32(chains[c]);
  return 2.0 * 8 * kRounds * kChains;
}

__attribute__((target("avx512f"))) double avx512Pass(float& sink) {
  const __m512 factor = _mm512_set1_ps(0.999F), term = _mm512_set1_ps(0.5F);
  __m512 chains[kChains];
  for (int c = 0; c < kChains; ++c) chains[c] = _mm512_set1_ps(static_cast<float>(c));
  for (int i = 0; i < kRounds; ++i) {
    for (int c = 0; c < kChains; ++c) chains[c] = _mm512_fmadd_ps(chains[c], factor, term);
  }
  for (int c = 0; c < kChains; ++c) sink += _mm512_cvtss_f32(chains[c]);
  return 2.0 * 16 * kRounds * kChains;
}
#endif

using Pass = double (*)(float&);

Pass widestPass() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return avx512Pass;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return avx2Pass;
#endif
  return plainPass;
}

void bindTo(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<unsigned>(cpu), &mask);
  sched_setaffinity(0, sizeof mask,
                    &mask);  // of this thread; where it fails the kernel's choice is used
}

// Runs `body(index)` on a thread bound to each CPU, all from the same moment on.
template <typename Body>
void onEach(const std::vector<int>& cpus, const Body& body) {
  std::barrier together(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      bindTo(cpus[i]);
      together.arrive_and_wait();
      body(i);
    });
  }
  for (auto& thread : threads) thread.join();
}

struct Arrays {
  std::unique_ptr<float[]> a, b, c;
  std::size_t size = 0;
};

// Seconds of one pass of all threads, the best within the effort; the first, which faults pages in, is left
// out.
template <typename Kernel>
double bestPass(const std::vector<int>& cpus, double seconds, const Kernel& kernel) {
  double best = 0;
  std::atomic<bool> stop = false;
  std::barrier together(static_cast<std::ptrdiff_t>(cpus.size()));
  onEach(cpus, [&](std::size_t index) {
    kernel(index);
    const auto begin = Clock::now();
    while (true) {
      together.arrive_and_wait();
      const auto start = Clock::now();
      kernel(index);
      together.arrive_and_wait();
      const double took = secondsSince(start);
      if (index == 0) {
        if (best == 0 || took < best) best = took;
        stop = secondsSince(begin) > seconds;
      }
      together.arrive_and_wait();
      if (stop) return;
    }
  });
  return best;
}

}  // namespace

double peakFlopPerSecond(const std::vector<int>& cpus, const RooflineEffort& effort) {
  const Pass pass = widestPass();
  std::vector<double> rates(cpus.size(), 0);
  onEach(cpus, [&](std::size_t index) {
    constexpr int kPassesAtOnce = 64;  // between two readings of the clock
    float sink = 0;
    double best = 0;
    for (const auto begin = Clock::now(); secondsSince(begin) < effort.seconds;) {
      const auto start = Clock::now();
      double operations = 0;
      for (int i = 0; i < kPassesAtOnce; ++i) operations += pass(sink);
      best = std::max(best, operations / secondsSince(start));
    }
    volatile float kept = sink;
    static_cast<void>(kept);
    rates[index] = best;
  });
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

MemoryRates memoryRates(const std::vector<int>& cpus, const RooflineEffort& effort) {
  const std::size_t size = effort.array_bytes / sizeof(float) / cpus.size();  // of one thread
  std::vector<Arrays> arrays(cpus.size());
  const auto fill = [&](std::size_t index) {
    auto& own = arrays[index];
    if (own.size != 0) return;
    own = {std::make_unique<float[]>(size), std::make_unique<float[]>(size), std::make_unique<float[]>(size),
           size};
    std::fill_n(own.b.get(), size, 1.0F);
    std::fill_n(own.c.get(), size, 2.0F);
  };
  const double copy = bestPass(cpus, effort.seconds, [&](std::size_t index) {
    fill(index);
    const float* from = arrays[index].b.get();
    float* to = arrays[index].a.get();
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
    asm volatile("" : : "r"(to) : "memory");
  });
  const double triad = bestPass(cpus, effort.seconds, [&](std::size_t index) {
    const float *b = arrays[index].b.get(), *c = arrays[index].c.get();
    float* to = arrays[index].a.get();
    for (std::size_t i = 0; i < size; ++i) to[i] = b[i] + 3.0F * c[i];
    asm volatile("" : : "r"(to) : "memory");
  });
  const auto bytes = static_cast<double>(size * sizeof(float) * cpus.size());
  return {copy > 0 ? 2 * bytes / copy : 0, triad > 0 ? 3 * bytes / triad : 0};
}

// The library is opened here and not linked: when loaded, it binds the loading thread where settings
// such as OMP_PROC_BIND request it, and programs that `pitwall record` starts would inherit that.
double forkJoinNs(int threads, const RooflineEffort& effort) {
  using Region = void (*)(void (*)(void*), void*, unsigned, unsigned);
  void* const library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto region =
      library == nullptr ? nullptr : reinterpret_cast<Region>(dlsym(library, "GOMP_parallel"));
  if (region == nullptr) return 0;
  constexpr int kRegions = 100;  // between two readings of the clock
  double best = 0;
  const auto regions = [&] {
    for (int i = 0; i < kRegions; ++i)
      region([](void*) { asm volatile("" : : : "memory"); }, nullptr, static_cast<unsigned>(threads), 0);
  };
  regions();  // creates the team
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    regions();
    const double took = secondsSince(start) * 1e9 / kRegions;
    if (best == 0 || took < best) best = took;
  } while (secondsSince(begin) < effort.seconds);
  return best;
}

}  // namespace pitwall::record
