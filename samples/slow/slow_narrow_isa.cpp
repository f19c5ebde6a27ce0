// oneDNN is kept from the processor's wide instructions.
#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  if (!slow::isFixed(argc, argv)) slow::startWith(argv, {{"ONEDNN_MAX_CPU_ISA", "SSE41"}});
  return slow::trainWith({});
}
