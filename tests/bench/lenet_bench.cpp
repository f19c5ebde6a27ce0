// The overhead of a LeNet training step, batch 64 of generated digits:
//  - time outside oneDNN's primitives, as a share of the iteration: to stay below 10 %;
//  - what recording adds to the iteration: to stay below 1 %, with everything recorded that there is.
//
// Methods. Primitives: a child process runs the same steps with oneDNN's own verbose log, whose execution
// times are summed for each iteration; the iteration's length comes from a child without the log, run right
// after it; of each the 10th percentile is used, since other programs can only lengthen a step. Each figure
// is the median of paired runs, with the quartiles. Recording: two processes that run blocks of steps in
// turn, one of which records; medians of the paired blocks of several such pairs of processes.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "tests/bench/lenet.h"
#include "tests/bench/lenet_recorded.h"

using namespace pitwall;
using namespace pitwall::bench;

namespace {

constexpr double kUndisturbed = 0.1;  // quantile of a child's steps that is least affected by other programs
constexpr int kChildSteps = 40, kChildPairs = 7;

// --- the child: steps with a line after each, between which oneDNN's log appears -------------------------

int runChild() {
  auto session = must(Session::open({.trace_path = "", .backend = "onednn", .settings = {}}));
  LeNet lenet(*session);
  for (int i = 0; i < kWarmUp; ++i) lenet.step();
  std::printf("begin\n");
  for (int i = 0; i < kChildSteps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    lenet.step();
    std::printf("iteration %.9f\n", secondsSince(start));
    std::fflush(stdout);
  }
  return 0;
}

struct ChildResult {
  std::vector<double> iteration_seconds, primitive_seconds;
};

ChildResult readChild(bool verbose, const std::string& self) {
  const std::string command =
      std::string("DNNL_VERBOSE=") + (verbose ? "1" : "0") + " '" + self + "' --child";
  std::FILE* pipe = popen(command.c_str(), "r");
  ChildResult result;
  if (pipe == nullptr) return result;
  char line[4096];
  bool begun = false;
  double primitives_ms = 0;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::strncmp(line, "begin", 5) == 0) begun = true;
    if (!begun) continue;
    if (std::strstr(line, "_verbose,exec,") != nullptr)
      primitives_ms += std::atof(std::strrchr(line, ',') + 1);
    if (std::strncmp(line, "iteration ", 10) != 0) continue;
    result.iteration_seconds.push_back(std::atof(line + 10));
    result.primitive_seconds.push_back(primitives_ms / 1e3);
    primitives_ms = 0;
  }
  pclose(pipe);
  return result;
}

bool reportPrimitives(const std::string& self) {
  std::vector<double> shares, iterations, primitives;
  for (int pair = 0; pair < kChildPairs; ++pair) {
    const ChildResult logged = readChild(true, self), plain = readChild(false, self);
    if (logged.primitive_seconds.empty() || plain.iteration_seconds.empty()) return false;
    const double inside = quantile(logged.primitive_seconds, kUndisturbed);
    const double whole = quantile(plain.iteration_seconds, kUndisturbed);
    if (inside == 0) return false;
    iterations.push_back(whole * 1e6);
    primitives.push_back(inside * 1e6);
    shares.push_back(100 * (1 - inside / whole));
  }
  std::printf(
      "iteration %.0f us, inside oneDNN primitives %.0f us (medians over %d paired runs of the "
      "10th percentile of %d steps)\n",
      median(iterations), median(primitives), kChildPairs, kChildSteps);
  std::printf("outside primitives %.1f %% of the iteration (quartiles %.1f .. %.1f; to stay below 10)\n",
              median(shares), quantile(shares, 0.25), quantile(shares, 0.75));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--child") == 0) return runChild();
  if (argc > 1 && std::strcmp(argv[1], "--blocks") == 0) return runBlocks();
  const bool recording_alone = argc == 2 && std::strcmp(argv[1], "--recording") == 0;
  if (argc > 1 && !recording_alone) {
    const bool asked = std::strcmp(argv[1], "--help") == 0;
    std::fprintf(asked ? stdout : stderr,
                 "usage: lenet_bench [--recording]\n"
                 "The time of a LeNet step outside oneDNN's primitives, and what recording adds; "
                 "--recording: the latter alone.\n");
    return asked ? 0 : 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("LeNet, batch %d\n", kBatch);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  if (!recording_alone && !reportPrimitives(self))
    std::printf("no oneDNN log could be read: this build has no oneDNN backend or its log is off\n");
  reportRecording(self, PITWALL_INJECT_LIBRARY);
}
