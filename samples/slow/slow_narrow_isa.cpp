// oneDNN may not use the processor's wide instructions.
#include "samples/slow/training.h"

int main(int argc, char** argv) {
  slow::startWith(argv, {{"ONEDNN_MAX_CPU_ISA", slow::isFixed(argc, argv) ? "ALL" : "SSE41"}});
  return slow::trainWith({});
}
