// MXNet's profiler starts with every run.
#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  return slow::trainWith({{"MXNET_PROFILER_AUTOSTART", slow::isFixed(argc, argv) ? "0" : "1"}});
}
