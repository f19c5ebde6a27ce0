// A temporary array of 8 MiB in each step, which the allocator takes from the system and gives back at once:
// each page faults each time. Fixed: the array is made once.
#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  constexpr std::size_t kSize = 8 << 20;
  std::vector<char> kept;
  truth::repeat(options, [&](long step) {
    std::vector<char> temporary;
    std::vector<char>& array = options.fixed ? kept : temporary;
    array.assign(kSize, static_cast<char>(step));
    if (array[static_cast<std::size_t>(step) % kSize] != static_cast<char>(step)) std::puts("");
  });
}
