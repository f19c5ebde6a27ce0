// The program to run, the path of its trace and its environment.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"

namespace pitwall::record {

// The file of `command`, searched in PATH as by a shell. Errors: notFound; unsupported when it exists but
// cannot be executed (a folder, no permission).
Result<std::string> findProgram(const std::string& command, const std::string& path);

// Fills in the name of a trace: %p process id, %r rank, %h host, %% percent sign. Where `rank` is known and
// the template would give all ranks one name, ".rank%r" is put before its extension. Errors: invalidInput for
// another letter after %.
struct OutputName {
  std::string path;
  bool rank_added = false;
};
Result<OutputName> outputName(std::string_view text, pid_t pid, std::optional<int> rank);

// libpitwall_inject.so: beside the executable, in ../lib of it (build tree and installed layout) and in
// ../lib/ARCH-linux-gnu. Empty when it does not exist.
std::string findInjectionLibrary(const std::string& executable);

// The folder of the sitecustomize.py that records Python's frameworks, beside the library. Empty when it does not exist.
std::string findPythonFolder(const std::string& injection_library);

struct ProgramSettings {
  std::string injection_library;  // "" = none
  std::string python_folder;      // put first in PYTHONPATH; "" = none
  std::string trace_template;     // PITWALL_TRACE; "" = not set
  std::vector<std::string> only_domains;
  std::optional<double> last_s;
  std::optional<double> until_monotonic_s;
  bool onednn = false;
};
// The environment of the program: ours, with the variables documented in docs/recording.md. `notes` gets a
// sentence for each variable that was already set and is left unchanged.
std::vector<std::string> programEnvironment(std::span<const std::string> own, const ProgramSettings& settings,
                                            std::vector<std::string>& notes);

}  // namespace pitwall::record
