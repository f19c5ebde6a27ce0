// Loops that use the whole machine, to measure its peak rates. Each returns the best of several passes.
#pragma once

#include <cstddef>
#include <vector>

namespace pitwall::record {

struct RooflineEffort {
  double seconds = 0.05;                            // of each measurement
  std::size_t array_bytes = std::size_t{64} << 20;  // of each of three arrays, beyond the caches
};

// float32 operations (a fused multiply-add is two) a second, of independent chains in registers with the
// widest vectors there are, one thread on each CPU.
double peakFlopPerSecond(const std::vector<int>& cpus, const RooflineEffort& effort);

struct MemoryRates {
  double copy = 0;   // a[i] = b[i], bytes read and written a second
  double triad = 0;  // a[i] = b[i] + s * c[i]
};
// The memory bandwidth of all CPUs together, as STREAM counts it: a line that is fetched to be overwritten
// does not count.
MemoryRates memoryRates(const std::vector<int>& cpus, const RooflineEffort& effort);

// An empty OpenMP region of so many threads, ns, by libgomp; the team exists already. 0 where libgomp is not
// installed.
double forkJoinNs(int threads, const RooflineEffort& effort);

}  // namespace pitwall::record
