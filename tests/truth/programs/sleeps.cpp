// A server without clients: wakes twice a second, looks, and sleeps again.
#include <thread>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  truth::repeat(truth::parse(argc, argv), [](long) {
    truth::work(10'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
}
