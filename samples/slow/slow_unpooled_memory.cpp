// Every array is allocated from the system and given back at once.
#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  const char* pool = slow::isFixed(argc, argv) ? "Naive" : "Unpooled";
  return slow::trainWith({{"MXNET_CPU_MEM_POOL_TYPE", pool}});
}
