// Works on one thread: each value depends on the one before it.
#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  truth::repeat(truth::parse(argc, argv), [](long) { truth::work(1'000'000); });
}
