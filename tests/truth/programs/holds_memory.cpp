// Fills 600 MiB once and goes through it again and again: much memory, which does not grow.
#include <numeric>
#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  std::vector<double> table(75'000'000, 0.5);
  truth::repeat(truth::parse(argc, argv), [&](long) {
    if (std::accumulate(table.begin(), table.end(), 0.0) < 0) std::puts("");
  });
}
