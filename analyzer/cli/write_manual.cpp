// write_manual FOLDER: the command's man pages and completions, while building.
#include <cstdio>

#include "analyzer/cli/command_line.h"
#include "analyzer/cli/describe.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: write_manual FOLDER\n", stderr), 2;
  const pitwall::cli::CommandLine line;
  const auto command = pitwall::cli::describe(line.app());
  const auto status = pitwall::manual::writeManual(command, PITWALL_VERSION, {"pitwall-gui"}, argv[1]);
  if (status.has_value()) return 0;
  std::fprintf(stderr, "write_manual: %s\n", status.error().message.c_str());
  return 1;
}
