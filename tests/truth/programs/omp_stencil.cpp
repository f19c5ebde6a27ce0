// Smooths an array with all OpenMP threads again and again. Nothing is planted in the code: how many threads
// there are and where they may run comes from the environment.
#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  constexpr long kSize = 200'000;
  std::vector<double> from(kSize, 1.0), to(kSize, 0.0);
  truth::repeat(options, [&](long) {
    for (int pass = 0; pass < 4; ++pass) {
#pragma omp parallel for schedule(static)
      for (long i = 1; i < kSize - 1; ++i) {
        double value = from[i - 1] + 2 * from[i] + from[i + 1];
        for (int k = 0; k < 20; ++k) value = value * 0.249 + 0.004;
        to[i] = value;
      }
      from.swap(to);
    }
  });
}
