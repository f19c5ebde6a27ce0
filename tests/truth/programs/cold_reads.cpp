// Reads its samples, 64 KiB each, from the disk itself every time: the pages are dropped from memory before
// each pass. Fixed: they stay in memory.
#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  constexpr off_t kSample = 64 << 10, kSamples = 1024;
  const std::string path = options.folder + "/samples.bin";
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0644);
  if (file < 0) truth::die("samples.bin");
  std::vector<char> sample(kSample, 's');
  for (off_t i = 0; i < kSamples; ++i)
    if (write(file, sample.data(), sample.size()) != kSample) truth::die("write");
  if (fsync(file) != 0) truth::die("fsync");
  posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);  // no reading ahead
  truth::repeat(options, [&](long step) {
    const off_t place = (step * 389 % kSamples) * kSample;
    if (!options.fixed) posix_fadvise(file, place, kSample, POSIX_FADV_DONTNEED);
    if (pread(file, sample.data(), sample.size(), place) != kSample) truth::die("read");
    truth::work(30'000);
  });
  close(file);
  unlink(path.c_str());
}
