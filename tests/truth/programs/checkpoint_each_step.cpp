// All weights are written and forced to the disk after each step. Fixed: after each 100th.
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  const std::vector<char> weights(8 << 20, 'w');
  const std::string path = options.folder + "/checkpoint.bin";
  truth::repeat(options, [&](long step) {
    truth::work(5'000'000);
    if (step % (options.fixed ? 100 : 1) != 0) return;
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file < 0) truth::die("checkpoint.bin");
    if (write(file, weights.data(), weights.size()) != static_cast<ssize_t>(weights.size()))
      truth::die("write");
    if (fsync(file) != 0) truth::die("fsync");
    close(file);
  });
}
