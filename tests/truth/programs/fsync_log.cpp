// A step of computation, then a line of the log that is forced to the disk. Fixed: the line is written only.
#include <fcntl.h>
#include <unistd.h>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  const int file = open((options.folder + "/steps.log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0644);
  if (file < 0) truth::die("steps.log");
  truth::repeat(options, [&](long step) {
    const double loss = truth::work(300'000);
    char line[64];
    const int length = std::snprintf(line, sizeof line, "step %ld loss %.6f\n", step, loss);
    if (write(file, line, static_cast<std::size_t>(length)) != length) truth::die("write");
    if (!options.fixed && fsync(file) != 0) truth::die("fsync");
  });
  close(file);
}
