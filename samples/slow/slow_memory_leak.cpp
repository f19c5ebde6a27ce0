// An array of each step is kept for good.
#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  auto session = slow::must(pitwall::Session::open());
  std::vector<pitwall::NDArray> kept;
  slow::Training training;
  if (!slow::isFixed(argc, argv)) {
    training.own_code = [&] {
      kept.push_back(pitwall::NDArray::fromValues(*session, {1 << 19}, std::vector<float>(1 << 19, 1.0F)));
    };
  }
  slow::train(*session, training);
  kept.clear();
  slow::must(session->finish());
}
