// What the C++ programs of this folder share. Each does one small thing for --seconds S, prints how many
// items it did in a second, and has one planted cause of slowness, or none; --fixed takes the cause away.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace truth {

using Clock = std::chrono::steady_clock;

struct Options {
  double seconds = 3;
  bool fixed = false, train = false;
  std::string folder = ".";  // where files are written
  int number = 0;            // what it means is the program's own
  std::string kind;          // likewise
};

inline Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (argument == "--fixed" || argument == "--train") {
      (argument == "--fixed" ? options.fixed : options.train) = true;
      continue;
    }
    if (argument == "--seconds") options.seconds = std::atof(value);
    if (argument == "--folder") options.folder = value;
    if (argument == "--kind") options.kind = value;
    if (argument == "--number") options.number = std::atoi(value);
    ++i;
  }
  return options;
}

// Calls `step` until the time is over and prints the rate.
template <class Step>
void repeat(const Options& options, Step step) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  long items = 0;
  do {
    step(items++);
  } while (elapsed() < options.seconds);
  std::printf("items_per_second %.6g\n", static_cast<double>(items) / elapsed());
}

// Some work of one CPU: `rounds` dependent multiply-adds, about 1 ns each.
inline double work(long rounds) {
  volatile double seed = 1.0;
  double value = seed;
  for (long i = 0; i < rounds; ++i) value = value * 0.999999 + 1e-6;
  seed = value;
  return value;
}

[[noreturn]] inline void die(const char* what) {
  std::perror(what);
  std::exit(2);
}

}  // namespace truth
