// Keeps 1 MiB of each step for good. Fixed: gives it back.
#include <cstring>
#include <memory>
#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  std::vector<std::unique_ptr<char[]>> kept;
  truth::repeat(options, [&](long) {
    kept.emplace_back(new char[1 << 20]);
    std::memset(kept.back().get(), 1, 1 << 20);
    truth::work(8'000'000);
    if (options.fixed) kept.clear();
  });
}
