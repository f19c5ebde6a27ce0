// `pitwall`: arguments and exit codes.
#include <string_view>

#include "analyzer/cli/command_line.h"
#include "analyzer/cli/interrupt.h"

int main(int argc, char** argv) {
  // A recorded program gets the signals, and the recording waits for its end.
  if (argc < 2 || std::string_view(argv[1]) != "record") pitwall::cli::endOnInterrupt();
  pitwall::cli::CommandLine line;
  return line.run(argc, argv);
}
