// `pitwall`: arguments and exit codes.
#include <string_view>

#include "analyzer/cli/command_line.h"
#include "analyzer/cli/interrupt.h"

int main(int argc, char** argv) {
  // A recorded program gets the signals, and the recording waits for its end; a search ends with what it knows.
  const std::string_view command = argc < 2 ? "" : argv[1];
  if (command != "record" && command != "tune") pitwall::cli::endOnInterrupt();
  pitwall::cli::CommandLine line;
  return line.run(argc, argv);
}
