// Rows of a triangular matrix: the later the row, the longer it takes, and each thread gets an equal number
// of rows that follow each other. Fixed: rows are handed out one by one.
#include <omp.h>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  constexpr long kRows = 512;
  omp_set_schedule(options.fixed ? omp_sched_dynamic : omp_sched_static, 0);
  truth::repeat(options, [&](long) {
    double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (long row = 0; row < kRows; ++row) sum += truth::work(row * row);
    if (sum < 0) std::puts("");
  });
}
