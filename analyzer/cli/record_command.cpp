#include "analyzer/cli/record_command.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <string_view>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/names_a_file.h"
#include "analyzer/cli/print.h"
#include "analyzer/record_program.h"
#include "db/escaped.h"

namespace pitwall::cli {
namespace {

// As shells have them.
constexpr int kCannotExecute = 126, kNoSuchProgram = 127, kBySignal = 128;

int startExitCode(const Error& error) {
  switch (error.code) {
    case ErrorCode::notFound: return kNoSuchProgram;
    case ErrorCode::unsupported: return kCannotExecute;
    default: return kUsage;
  }
}

// The same end as the program's, so that the caller sees it; without a second core dump.
int endBySignal(int number) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, number);
  sigprocmask(SIG_UNBLOCK, &mask, nullptr);
  raise(number);
  return kBySignal + number;  // a signal that does not end a process
}

std::string plural(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

StackMode stackMode(std::string_view text) {
  return text == "off"      ? StackMode::off
         : text == "python" ? StackMode::python
         : text == "native" ? StackMode::native
                            : StackMode::automatic;
}

void printSummary(const Recorded& recorded, bool sampled) {
  for (const std::string& note : recorded.notes) reportNote(note);
  printNote("pitwall: recorded {:.2f} s", recorded.seconds);
  if (sampled) {
    printNote(", {}, {}", plural(recorded.processes, "process", "processes"),
              plural(recorded.most_threads, "thread", "threads at once"));
    if (recorded.sample_hz > 0) printNote(", {:.3g} samples a second", recorded.sample_hz);
  }
  if (!recorded.trace.empty()) printNote(" -> {}", escaped(recorded.trace));
  printNote("\n");
}

}  // namespace

CLI::App* addRecord(CLI::App& app, RecordArguments& arguments) {
  auto* command =
      app.add_subcommand("record", "Run any program and record it: processes, GPUs, NVTX, CUDA, oneDNN");
  command
      ->add_option("-o,--output", arguments.output,
                   "Trace file to write (default: PROGRAM.pitwall, here); %p process id, %r rank of a "
                   "distributed job, "
                   "%h host")
      ->type_name("OUT.pitwall")
      ->check(kNamesAFile);
  command
      ->add_option("--sample", arguments.sample_hz,
                   "Samples a second of processes, threads and GPUs; 0 = none")
      ->type_name("HZ")
      ->capture_default_str();
  auto* pid = command->add_option(
      "--pid", arguments.pid,
      "Record a running process and its children instead, until ctrl-C, its end or --duration");
  pid->type_name("PID");
  command->add_option("--duration", arguments.duration_s, "Record for this time; the program continues")
      ->type_name("SECONDS");
  command->add_option("--last", arguments.last_s, "Flight recorder: keep only this time before the end")
      ->type_name("SECONDS");
  command->add_option("--only", arguments.only_domains, "Record only this NVTX domain; may be repeated")
      ->type_name("DOMAIN")
      ->allow_extra_args(false)
      ->excludes(pid);
  command
      ->add_flag(
          "--onednn", arguments.onednn,
          "Record oneDNN's primitives from its verbose lines, which are removed from the program's output")
      ->excludes(pid);
  command
      ->add_option("--framework", arguments.framework,
                   "Operators of a Python program's framework: auto (PyTorch, ONNX Runtime, MXNet, JAX), or "
                   "none to leave it alone")
      ->check(CLI::IsMember({"auto", "none"}))
      ->type_name("auto|none")
      ->capture_default_str()
      ->excludes(pid);
  command
      ->add_option("--stacks", arguments.stacks,
                   "Sample what threads execute or wait for: auto (functions of Python, native ones of other "
                   "threads), python, native, off")
      ->check(CLI::IsMember({"auto", "python", "native", "off"}))
      ->type_name("auto|python|native|off")
      ->capture_default_str();
  command
      ->add_flag("--wait-all", arguments.wait_all,
                 "Record until the last process of the program has ended, not only the first")
      ->excludes(pid);
  command->add_flag("--keep-parts", arguments.keep_parts, "Keep the folder of partial traces that are merged")
      ->excludes(pid);
  command->add_flag("-q,--quiet", arguments.quiet, "Print failures only");
  return command;
}

int cutProgram(int argc, const char* const* argv, std::string_view name, std::vector<std::string>& program) {
  if (argc < 2 || argv[1] != name) return argc;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    program.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

int runRecord(const RecordArguments& arguments) {
  RecordOptions options;
  options.command = arguments.command;
  options.pid = arguments.pid;
  options.output = arguments.output;
  if (options.output == "-")
    return reportError(
        "a recording cannot go to standard output, which is the program's; name a file with -o", kUsage);
  options.sample_hz = arguments.sample_hz;
  options.duration_s = arguments.duration_s;
  options.last_s = arguments.last_s;
  options.only_domains = arguments.only_domains;
  options.onednn = arguments.onednn;
  options.frameworks = arguments.framework != "none";
  options.stacks = stackMode(arguments.stacks);
  options.wait_all = arguments.wait_all;
  options.keep_parts = arguments.keep_parts;
  std::error_code none;
  options.executable = std::filesystem::read_symlink("/proc/self/exe", none).string();
  options.producer = std::string("pitwall ") + PITWALL_VERSION;
  const auto recorded = recordProgram(options);
  if (!recorded.has_value())
    return reportError(recorded.error().message, static_cast<ExitCode>(startExitCode(recorded.error())));
  if (!arguments.quiet) printSummary(recorded.value(), arguments.sample_hz > 0);
  for (const std::string& failure : recorded.value().failures) printNote("pitwall: {}\n", escaped(failure));
  if (recorded.value().exit_signal != 0) return endBySignal(recorded.value().exit_signal);
  return recorded.value().exit_code;
}

}  // namespace pitwall::cli
