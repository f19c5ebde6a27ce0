// A histogram that all threads count in, each element under a critical section. Fixed: each thread counts in a histogram of its own, and
// they are added up once.
#include <map>

#include "tests/truth/programs/program.h"

namespace {

constexpr int kElements = 200000;

int bucketOf(int element) { return element * 7919 % 5000; }

}  // namespace

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  truth::repeat(options, [&](long) {
    std::map<int, long> all;
    if (options.fixed) {
#pragma omp parallel
      {
        std::map<int, long> own;
#pragma omp for
        for (int i = 0; i < kElements; ++i) ++own[bucketOf(i)];
#pragma omp critical
        for (const auto& [bucket, count] : own) all[bucket] += count;
      }
    } else {
#pragma omp parallel for
      for (int i = 0; i < kElements; ++i) {
#pragma omp critical
        ++all[bucketOf(i)];
      }
    }
    if (all.empty()) std::puts("");
  });
}
