#include "analyzer/record/sample/stack_probe.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "analyzer/record/sample/proc_files.h"
#include "db/stacks.h"

namespace pitwall::record {
namespace {

constexpr TimeNs kRarestRefreshNs = 10'000'000'000;

}  // namespace

std::string stateText(ThreadState state) {
  switch (state) {
    case ThreadState::running: return "";
    case ThreadState::mutex: return "waiting: lock";
    case ThreadState::timedWait: return "waiting: lock or event, with a timeout";
    case ThreadState::wait: return "waiting: lock or event";
    case ThreadState::sleep: return "sleeping";
    case ThreadState::poll: return "waiting: files or sockets";
    case ThreadState::input: return "waiting: input of a pipe, socket or terminal";
    case ThreadState::output: return "waiting: output to a pipe or socket";
    case ThreadState::storageRead: return "waiting: storage read";
    case ThreadState::storageWrite: return "waiting: storage write";
    case ThreadState::sync: return "waiting: storage sync";
    case ThreadState::uninterruptible: return "waiting: kernel";
    case ThreadState::child: return "waiting: child process";
    case ThreadState::asleep: return "waiting";
    case ThreadState::stopped: return "stopped";
  }
  return "waiting";
}

FrameId StackRecorder::sinkFrame(std::uint32_t frame) {
  if (frame >= sink_frames_.size()) sink_frames_.resize(frame + 1);
  FrameId& id = sink_frames_[frame];
  if (!id) id = sink_.frame(frames[frame]);
  return id;
}

StackId StackRecorder::stack(const std::vector<std::uint32_t>& of, const std::string& state) {
  StackId stack;
  for (const std::uint32_t frame : of) stack = sink_.stack({stack, sinkFrame(frame)});
  if (state.empty()) return stack;
  const std::uint32_t last =
      frames.number({.function = state, .file = "", .line = 0, .language = kStateLanguage});
  return sink_.stack({stack, sinkFrame(last)});
}

StackProbe::StackProbe(pid_t pid, LockAddresses& locks, StackRecorder& recorder)
    : pid_(pid),
      locks_(locks),
      recorder_(recorder),
      stacks_(pid, recorder.mode, static_cast<int>(std::max(1.0, recorder.hz)), recorder.files,
              recorder.frames) {}

void StackProbe::begin(int folder, TimeNs now_ns) {
  for (auto& [tid, thread] : threads_) thread.seen = false;
  if (now_ns >= refresh_due_ns_) {
    if (host::readFileInto(folder, "maps", text_)) stacks_.refresh(text_);
    refresh_due_ns_ = now_ns + refresh_every_ns_;
    refresh_every_ns_ = std::min(refresh_every_ns_ * 2, kRarestRefreshNs);
  }
  stacks_.begin();
}

std::optional<std::string> StackProbe::waitOf(int task_folder, pid_t tid, Thread& thread) {
  const std::string folder = std::to_string(tid);
  const bool readable =
      syscall_readable_ && thread.syscall.readInto(task_folder, (folder + "/syscall").c_str(), call_);
  // Forbidden for all threads; other errors are those of one that ends.
  if (!readable && (errno == EACCES || errno == EPERM)) syscall_readable_ = false;
  if (readable) {
    if (call_.starts_with("running")) return std::nullopt;
    if (stacks_.isInterpreterLock(firstArgument(call_))) return "waiting: interpreter lock";
    const ThreadState state = locks_.stateOf(tid, 'S', call_);
    const bool is_clear =
        state != ThreadState::input && state != ThreadState::output && state != ThreadState::asleep;
    if (is_clear) return stateText(state);
  }
  // The letter distinguishes storage from pipes and sockets.
  if (!thread.stat.readInto(task_folder, (folder + "/stat").c_str(), text_)) return "waiting";
  const auto stat = parseStat(text_);
  if (!stat) return "waiting";
  const ThreadState state = locks_.stateOf(tid, stat->state, readable ? call_ : std::string_view());
  return state == ThreadState::running ? std::nullopt : std::optional(stateText(state));
}

StackId StackProbe::stackOf(Thread& thread, std::string_view state) {
  if (!thread.stack || thread.state != state || thread.frames != frames_) {
    thread.frames = frames_;
    thread.state = state;
    thread.stack = recorder_.stack(frames_, thread.state);
  }
  return thread.stack;
}

void StackProbe::addNative(pid_t tid, bool running, ThreadRef ref, TimeNs now_ns, Thread& thread,
                           SampleLog& log) {
  const auto function = stacks_.nativeFunction(tid, running);
  if (!thread.native && !function) return;
  if (!thread.native) thread.native = log.series(ref, kNativeFunctionTrack, kStackUnit);
  log.add(*thread.native, now_ns, function ? recorder_.stack({*function}, "").value : 0);
}

std::string StackProbe::sample(int task_folder, pid_t tid, ThreadRef thread, const TraceClock& clock,
                               SampleLog& log) {
  const auto [found, fresh] = threads_.try_emplace(tid);
  if (fresh) found->second.series = log.series(thread, "stack", kStackUnit);
  found->second.seen = true;
  const auto waits = waitOf(task_folder, tid, found->second);
  const TimeNs now = clock.now();
  const auto read = stacks_.read(tid, !waits, frames_);
  if (read != ProcessStacks::Read::none) ++recorder_.taken;
  StackId stack;
  if (read == ProcessStacks::Read::torn) {
    ++recorder_.torn;
  } else {
    stack = stackOf(found->second, waits ? std::string_view(*waits) : "");
  }
  log.add(found->second.series, now, stack.value);
  if (read == ProcessStacks::Read::done && stacks_.runsPython(tid))
    addNative(tid, !waits, thread, now, found->second, log);
  const bool ask = tid == pid_ && roles_asked_ < kRolesAsked && read == ProcessStacks::Read::done;
  if (!ask) return "";
  std::string role = stacks_.roleOf(frames_);
  roles_asked_ = role.empty() ? roles_asked_ + 1 : kRolesAsked;
  return role;
}

void StackProbe::end(TimeNs now_ns, SampleLog& log) {
  if (recorder_.note.empty()) recorder_.note = stacks_.note();
  for (auto it = threads_.begin(); it != threads_.end();) {
    if (it->second.seen) {
      ++it;
      continue;
    }
    log.add(it->second.series, now_ns, 0);
    if (it->second.native) log.add(*it->second.native, now_ns, 0);
    stacks_.forget(it->first);
    it = threads_.erase(it);
  }
}

void StackProbe::endAll(TimeNs now_ns, SampleLog& log) {
  for (auto& [tid, thread] : threads_) thread.seen = false;
  end(now_ns, log);
}

}  // namespace pitwall::record
