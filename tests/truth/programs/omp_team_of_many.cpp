// The program asks in its code for 8 threads a CPU; fixed: for one a CPU.
#include <omp.h>

#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  const int threads = options.fixed ? omp_get_num_procs() : 8 * omp_get_num_procs();
  constexpr long kSize = 100'000;
  std::vector<double> values(kSize, 1.0);
  truth::repeat(options, [&](long) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (long i = 0; i < kSize; ++i) {
      double value = values[i];
      for (int k = 0; k < 20; ++k) value = value * 0.999 + 0.001;
      values[i] = value;
    }
  });
}
