// A temporary array of 64 MiB in each step, more than the C library keeps: it is taken from the system and
// given back at once, and each page faults each time. Fixed: the array is made once.
#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  constexpr std::size_t kSize = 64 << 20;
  std::vector<char> kept;
  truth::repeat(options, [&](long step) {
    std::vector<char> temporary;
    std::vector<char>& array = options.fixed ? kept : temporary;
    array.assign(kSize, static_cast<char>(step));
    if (array[static_cast<std::size_t>(step) % kSize] != static_cast<char>(step)) std::puts("");
  });
}
