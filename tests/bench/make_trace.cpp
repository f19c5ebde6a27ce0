// Writes a synthetic trace of another tool: make_trace kineto|mxnet|onednn MEGABYTES FILE, make_trace nsight
// ROWS FILE.
#include "tests/bench/make_trace.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  using namespace pitwall::bench;
  const std::string_view kind = argc == 4 ? argv[1] : "";
  const long long amount = argc == 4 ? std::atoll(argv[2]) : 0;
  std::string wrong =
      "usage: make_trace kineto|mxnet|onednn MEGABYTES FILE\n       make_trace nsight ROWS FILE";
  if (amount > 0) {
    const std::string path = argv[3];
    if (kind == "kineto") wrong = makeKineto(path, amount * 1'000'000);
    if (kind == "mxnet") wrong = makeMxNet(path, amount * 1'000'000);
    if (kind == "onednn") wrong = makeOneDnn(path, amount * 1'000'000);
    if (kind == "nsight") wrong = makeNsight(path, amount);
  }
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  return 2;
}
