#include "analyzer/record/stacks/process_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analyzer/record/stacks/find_python.h"

namespace pitwall::record {
namespace {

std::string unreadable(std::string_view effect, pid_t pid, int error) {
  return fmt::format(
      "{}: the memory of process {} cannot be read ({}); run as its user and allow it: "
      "kernel.yama.ptrace_scope 0 or 1, in a container the capability SYS_PTRACE",
      effect, pid, std::strerror(error));
}

}  // namespace

ProcessStacks::ProcessStacks(pid_t pid, StackMode mode, int hz, SymbolFiles& files, FrameTable& frames)
    : pid_(pid),
      mode_(mode),
      hz_(hz),
      files_(files),
      frames_(frames),
      memory_(pid),
      symbols_(pid, files, frames),
      chains_(memory_) {}

void ProcessStacks::refresh(std::string_view maps) {
  std::vector<Mapping> mappings = parseMappings(maps);
  if (mode_ != StackMode::native && python_ == nullptr && !python_refused_) findInterpreter(mappings);
  if (symbols_.refresh(std::move(mappings))) chains_.forget();
}

void ProcessStacks::findInterpreter(const std::vector<Mapping>& mappings) {
  const PythonRuntime runtime = findPython(pid_, mappings, memory_, files_);
  if (runtime.address == 0) return;
  if (!memory_.value<Address>(runtime.address)) {
    if (memory_.lastError() != EPERM && memory_.lastError() != ENOSYS) return;  // it has just ended
    python_refused_ = true;
    addNote(unreadable("Python stacks are not recorded", pid_, memory_.lastError()));
    return;
  }
  auto python = PythonStacks::create(memory_, frames_, runtime.address, runtime.minor);
  if (python.has_value()) {
    python_ = std::move(*python);
    return;
  }
  python_refused_ = true;
  addNote(fmt::format("Python stacks are not recorded: {}", python.error().message));
}

void ProcessStacks::begin() {
  if (python_ != nullptr) python_->findThreads();
}

ProcessStacks::Read ProcessStacks::read(pid_t tid, bool running, std::vector<std::uint32_t>& frames) {
  frames.clear();
  if (python_ != nullptr && python_->hasThread(tid)) {
    switch (python_->read(tid, frames)) {
      case PythonStacks::Read::done: return Read::done;
      case PythonStacks::Read::torn: return Read::torn;
      case PythonStacks::Read::none: break;
    }
  }
  return mode_ == StackMode::python ? Read::none : readNative(tid, running, frames);
}

std::optional<std::uint32_t> ProcessStacks::nativeFunction(pid_t tid, bool running) {
  if (mode_ != StackMode::automatic || native_refused_) return std::nullopt;
  NativeThread* const thread = openNative(tid);
  if (thread == nullptr) return std::nullopt;
  const std::span<const Address> chain = thread->take();
  if (!running || chain.empty()) return std::nullopt;
  return symbols_.frameAt(chain.front());
}

// PyTorch's worker processes: _worker_loop(..., worker_id, num_workers, ...).
std::string ProcessStacks::roleOf(const std::vector<std::uint32_t>& frames) const {
  constexpr std::uint32_t kWorkerId = 10, kWorkers = 11, kMostWorkers = 4096;
  for (std::size_t i = 0; python_ != nullptr && i < frames.size(); ++i) {
    const FrameInfo& frame = frames_[frames[i]];
    if (frame.function != "_worker_loop" || !frame.file.ends_with("torch/utils/data/_utils/worker.py"))
      continue;
    const auto number = python_->argument(i, kWorkerId), of = python_->argument(i, kWorkers);
    if (number && of && *number < *of && *of <= kMostWorkers)
      return fmt::format("DataLoader worker {}", *number);
  }
  return "";
}

void ProcessStacks::addNote(std::string note) {
  if (note_.empty()) note_ = std::move(note);
}

// Where other threads have a ring, the kernel allows them: there is no room for one more.
void ProcessStacks::refuseNative(pid_t tid, int error) {
  if (error == ESRCH) return;  // it has just ended
  const bool no_room = error == EMFILE || error == ENFILE || error == ENOMEM;
  if (native_.empty() && !no_room) {
    native_refused_ = true;
    return addNote(
        fmt::format("native stacks are not recorded: the kernel does not allow perf_event_open ({}); set "
                    "kernel.perf_event_paranoid to 2 or less, in a container allow the system call",
                    std::strerror(error)));
  }
  refused_.insert(tid);
  addNote(
      fmt::format("native stacks of some threads are not recorded: {}; raise the limit of open files "
                  "(ulimit -n) or kernel.perf_event_mlock_kb",
                  std::strerror(error)));
}

NativeThread* ProcessStacks::openNative(pid_t tid) {
  if (const auto found = native_.find(tid); found != native_.end()) return found->second.get();
  if (native_.size() >= kMostNative || refused_.contains(tid)) return nullptr;
  auto thread = NativeThread::open(tid, hz_);
  if (thread == nullptr) {
    refuseNative(tid, errno);
    return nullptr;
  }
  if (!thread->seesKernel())
    addNote(
        "native stacks leave out time in the kernel: the kernel allows no more; set "
        "kernel.perf_event_paranoid to 1 "
        "or less, or record as root");
  return native_.emplace(tid, std::move(thread)).first->second.get();
}

ProcessStacks::Read ProcessStacks::readNative(pid_t tid, bool running, std::vector<std::uint32_t>& frames) {
  if (native_refused_) return Read::none;
  NativeThread* const thread = openNative(tid);
  if (thread == nullptr) return Read::none;
  const std::span<const Address> chain = thread->take();
  if (!running || chain.empty()) return Read::none;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i > 0 && !chains_.isReturnAddress(chain[i])) break;
    const auto frame = symbols_.frameAt(i == 0 ? chain[i] : chain[i] - 1);
    if (!frame) break;
    frames.push_back(*frame);
  }
  if (memory_.lastError() == EPERM && note_.empty())
    addNote(unreadable("callers of native functions are not recorded", pid_, EPERM));
  std::ranges::reverse(frames);
  return frames.empty() ? Read::none : Read::done;
}

}  // namespace pitwall::record
