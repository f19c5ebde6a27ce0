// The program's own code (here a sleep) runs between steps, while no operator does.
#include <chrono>
#include <thread>

#include "samples/slow/slow.h"

int main(int argc, char** argv) {
  slow::Training training;
  if (!slow::isFixed(argc, argv))
    training.own_code = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  return slow::trainWith({}, training);
}
