#include "analyzer/cli/import_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/print.h"
#include "db/import.h"

namespace pitwall::cli {
namespace {

constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

// While it exists, ctrl-C cancels the import instead of ending the process.
class InterruptGuard {
 public:
  InterruptGuard() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
    sigemptyset(&action.sa_mask);
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second ctrl-C ends it at once
    sigaction(SIGINT, &action, &before_int_);
    sigaction(SIGTERM, &action, &before_term_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

// One line on a terminal, rewritten at most ten times a second; nothing elsewhere.
class ProgressLine {
 public:
  void show(const ImportProgress& progress) {
    const auto now = Clock::now();
    if (input_ != progress.input) {
      input_ = progress.input;
      begin_ = now;
    }
    if (now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const double share = progress.total_bytes > 0 ? static_cast<double>(progress.done_bytes) /
                                                        static_cast<double>(progress.total_bytes)
                                                  : 0;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double left = share > 0 ? seconds / share - seconds : 0;
    const int filled = static_cast<int>(share * 30);
    printNote("\r[{:<30}] {:3.0f} %  {:.0f} MB/s  {:.0f} s left ",
              std::string(static_cast<std::size_t>(filled), '#'), share * 100,
              seconds > 0 ? static_cast<double>(progress.done_bytes) / 1e6 / seconds : 0, left);
    std::fflush(stderr);
    drawn_ = true;
  }
  void clear() {
    if (drawn_) printNote("\r{:70}\r", "");
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string input_;
  Clock::time_point begin_;
  Clock::time_point shown_;
  bool drawn_ = false;
};

std::string defaultOutput(const std::string& input) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(input, error);
  std::filesystem::path name =
      (is_folder ? std::filesystem::canonical(input, error) : std::filesystem::path(input)).filename();
  if (is_folder) return (name.empty() ? "folder" : name.string()) + ".pitwall";
  for (const char* extension : {".gz", ".zst", ".zip", ".json", ".jsonl", ".sqlite", ".log", ".txt", ".md"}) {
    if (name.extension() == extension) name.replace_extension();
  }
  if (name.extension() == ".pitwall") name.replace_extension(".import");  // never onto an input
  return name.string() + ".pitwall";
}

int exitCodeOf(const Error& error, const std::string& output) {
  if (error.code == ErrorCode::cancelled) return kInterrupted;
  if (error.code == ErrorCode::internal) return kInternal;
  const bool about_output = error.message.find(output) != std::string::npos;
  return about_output ? kUsage : kUnreadableTrace;
}

}  // namespace

CLI::App* addImport(CLI::App& app, ImportArguments& arguments) {
  auto* command =
      app.add_subcommand("import", "Import traces of other tools; the format is detected by content");
  command
      ->add_option(
          "input", arguments.inputs,
          "Trace of another tool or of Pitwall, uncompressed or compressed (gzip, zstd, xz, zip, tar), or a "
          "folder of them; several become one")
      ->required()
      ->type_name("INPUT");
  command
      ->add_option("-o,--output", arguments.output,
                   "Trace file to write (default: INPUT with .pitwall, here)")
      ->type_name("OUT.pitwall");
  return command;
}

int importTraces(const ImportArguments& arguments) {
  const std::string output =
      arguments.output.empty() ? defaultOutput(arguments.inputs.front()) : arguments.output;
  ImportOptions options;
  options.cancel = &interrupted;
  ProgressLine line;
  if (::isatty(STDERR_FILENO) != 0) {
    options.progress = [&](const ImportProgress& progress) { line.show(progress); };
  }
  const InterruptGuard guard;
  const auto summary = importToFile(arguments.inputs, output, options);
  line.clear();
  if (!summary.has_value()) {
    reportError(summary.error().message, kUsage);
    return exitCodeOf(summary.error(), output);
  }
  print("{}written: {}\n", toText(*summary), output);
  return kDone;
}

}  // namespace pitwall::cli
