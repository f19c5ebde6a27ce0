// write_viewer_manual FOLDER: the viewer's man page and completions, while building.
#include <cstdio>

#include "gui/app/manual.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: write_viewer_manual FOLDER\n", stderr), 2;
  auto command = pitwall::gui::viewerManual();
  command.options.push_back({{"-h", "--help"}, {}, "Print a help message and exit."});
  command.options.push_back({{"--help-all"}, {}, "The same with the options of Qt."});
  command.options.push_back({{"-v", "--version"}, {}, "Print the version and exit."});
  const auto status = pitwall::manual::writeManual(
      command, PITWALL_VERSION, {"pitwall", "pitwall-analyze", "pitwall-record", "pitwall-import"}, argv[1]);
  if (status.has_value()) return 0;
  std::fprintf(stderr, "write_viewer_manual: %s\n", status.error().message.c_str());
  return 1;
}
