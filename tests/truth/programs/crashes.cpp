// Ends after 0.3 s of work as --number says: 1 with exit code 1, 2 by reading where nothing is, 3 for want of
// memory. 0: works to its end.
#include <sys/resource.h>

#include <cstring>
#include <new>

#include "tests/truth/programs/program.h"

namespace {

void endAs(int number) {
  if (number == 1) {
    std::fputs("cannot open model.bin\n", stderr);
    std::exit(1);
  }
  if (number == 2) {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (number == 3) {
    const rlimit limit{256 << 20, 256 << 20};
    setrlimit(RLIMIT_AS, &limit);
    for (;;) std::memset(::operator new(16 << 20), 1, 16 << 20);  // std::bad_alloc, which nobody catches
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto options = truth::parse(argc, argv);
  if (!options.fixed) options.seconds = 0.3;
  truth::repeat(options, [](long) { truth::work(1'000'000); });
  if (!options.fixed) endAs(options.number);
}
