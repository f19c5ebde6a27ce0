// `pitwall`: arguments and exit codes.
#include "analyzer/cli/command_line.h"

int main(int argc, char** argv) {
  pitwall::cli::CommandLine line;
  return line.run(argc, argv);
}
