// Arrays of ever new sizes: a pool that looks for the exact size keeps them all and uses none again.
#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  const char* pool = slow::isFixed(argc, argv) ? "Round" : "Naive";
  pitwall::SessionOptions options;
  options.settings = {{"MXNET_CPU_MEM_POOL_TYPE", pool}};
  auto session = slow::must(pitwall::Session::open(options));
  int size = 1 << 20;
  slow::Training training;
  training.own_code = [&] {
    size += 1 << 15;
    pitwall::NDArray::fromValues(*session, {size}, std::vector<float>(static_cast<std::size_t>(size), 1.0F));
  };
  slow::train(*session, training);
  slow::must(session->finish());
}
