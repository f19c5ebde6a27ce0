// The engine that runs every operator inside the call that asks for it: nothing overlaps.
#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  const char* engine = slow::isFixed(argc, argv) ? "ThreadedEnginePerDevice" : "NaiveEngine";
  return slow::trainWith({{"MXNET_ENGINE_TYPE", engine}});
}
