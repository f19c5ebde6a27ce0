#include "analyzer/record/sample/thread_state.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace pitwall::record {
namespace {

enum class Call { other, futex, sleep, poll, read, receive, write, send, sync, child };

Call classOf(std::int64_t number) {
  switch (number) {
    case SYS_futex: return Call::futex;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return Call::sleep;
#ifdef SYS_poll  // newer architectures have only the calls with a mask
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait: return Call::poll;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2: return Call::read;
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4: return Call::receive;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2: return Call::write;
    case SYS_sendto:
    case SYS_sendmsg: return Call::send;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_msync:
    case SYS_sync_file_range: return Call::sync;
    case SYS_wait4:
    case SYS_waitid: return Call::child;
    default: return Call::other;
  }
}

// "202 0x7f2a 0x189 0x0 0x0 ...": the number of the call and its first four arguments.
struct Syscall {
  bool known = false;
  std::int64_t number = -1;
  std::array<std::uint64_t, 4> arguments{};
};

template <class Number>
bool take(std::string_view& text, Number& value, int base) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

Syscall parse(std::string_view text) {
  Syscall call;
  call.known = take(text, call.number, 10);
  for (auto& argument : call.arguments) {
    if (!take(text, argument, 16)) break;
  }
  return call;
}

// The arguments that the C library uses distinguish the kinds of locks.
ThreadState futexState(const Syscall& call) {
  constexpr std::uint64_t kCommand = 0x7f, kWait = 0;
  constexpr std::uint32_t kContended = 2, kContendedGnuOpenMp = UINT32_MAX;
  if (call.arguments[3] != 0) return ThreadState::timedWait;
  const auto value = static_cast<std::uint32_t>(call.arguments[2]);
  const bool mutex =
      (call.arguments[1] & kCommand) == kWait && (value == kContended || value == kContendedGnuOpenMp);
  return mutex ? ThreadState::mutex : ThreadState::wait;
}

}  // namespace

ThreadState threadState(char letter, std::string_view syscall) {
  if (letter == 'T' || letter == 't') return ThreadState::stopped;
  const bool disk = letter == 'D';
  if ((letter != 'S' && !disk) || syscall.starts_with("running")) return ThreadState::running;
  const Syscall call = parse(syscall);
  const auto otherwise = disk ? ThreadState::uninterruptible : ThreadState::asleep;
  if (!call.known) return otherwise;
  switch (classOf(call.number)) {
    case Call::futex: return futexState(call);
    case Call::sleep: return ThreadState::sleep;
    case Call::poll: return ThreadState::poll;
    case Call::read: return disk ? ThreadState::storageRead : ThreadState::input;
    case Call::receive: return ThreadState::input;
    case Call::write: return disk ? ThreadState::storageWrite : ThreadState::output;
    case Call::send: return ThreadState::output;
    case Call::sync: return ThreadState::sync;
    case Call::child: return ThreadState::child;
    case Call::other: return otherwise;
  }
  return otherwise;
}

std::uint64_t firstArgument(std::string_view syscall) { return parse(syscall).arguments[0]; }

ThreadState LockAddresses::stateOf(pid_t thread, char letter, std::string_view syscall) {
  constexpr std::size_t kMost = 1 << 16;
  const ThreadState state = threadState(letter, syscall);
  if (state != ThreadState::mutex) return state;
  const std::uint64_t address = firstArgument(syscall);
  if (waiters_.size() >= kMost && !waiters_.contains(address)) return ThreadState::wait;
  Waiter& waiter = waiters_.try_emplace(address, Waiter{thread, false}).first->second;
  waiter.others |= waiter.first != thread;
  return waiter.others ? ThreadState::mutex : ThreadState::wait;
}

}  // namespace pitwall::record
