// Training with operators of fixed duration; each 10th step writes a checkpoint on the training thread, which
// takes 90 ms. Fixed: another thread writes it while the training goes on.
#include "tests/truth/programs/runtime_program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  truth::TimedProgram program;
  std::thread writer;
  truth::repeat(options, [&](long step) {
    program.session().markIteration(1);
    program.pushStep();
    program.wait();
    if (step % 10 != 9) return;
    const auto write = [] { truth::sleepFor(truth::Milliseconds(90)); };
    if (!options.fixed) return write();
    if (writer.joinable()) writer.join();
    writer = std::thread(write);
  });
  if (writer.joinable()) writer.join();
  truth::must(program.session().finish());
}
