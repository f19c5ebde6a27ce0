// Operators run simple loops instead of oneDNN's kernels.
#include "samples/slow/training.h"

int main(int argc, char** argv) {
  return slow::trainWith({{"MXNET_MKLDNN_ENABLED", slow::isFixed(argc, argv) ? "1" : "0"}}, 128);
}
