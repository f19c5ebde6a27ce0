#include "analyzer/record/stacks/native_stacks.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace pitwall::record {
namespace {

constexpr std::uint16_t kMostDepth = 64;
constexpr std::size_t kMostKnown = 1 << 16;

// A page of facts, then the ring: two pages, some dozen chains.
std::size_t pageSize() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}
std::size_t ringSize() { return 2 * pageSize(); }
std::size_t mappedSize() { return pageSize() + ringSize(); }

}  // namespace

std::unique_ptr<NativeThread> NativeThread::open(pid_t tid, int hz) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_CPU_CLOCK;
  wanted.sample_period = 1'000'000'000 / static_cast<std::uint64_t>(hz);
  wanted.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
  wanted.exclude_hv = wanted.exclude_callchain_kernel = 1;
  wanted.sample_max_stack = kMostDepth;
  wanted.wakeup_events = 1 << 20;  // it is read without waiting
  const auto opened = [&] {
    return static_cast<int>(syscall(SYS_perf_event_open, &wanted, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
  };
  int file = opened();
  const bool sees_kernel = file >= 0;
  if (file < 0 && (errno == EACCES || errno == EPERM)) {
    wanted.exclude_kernel = 1;
    file = opened();
  }
  if (file < 0) return nullptr;
  void* ring = mmap(nullptr, mappedSize(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ring == MAP_FAILED) {
    const int error = errno;
    ::close(file);
    errno = error == EPERM ? ENOMEM : error;  // more than kernel.perf_event_mlock_kb
    return nullptr;
  }
  return std::unique_ptr<NativeThread>(new NativeThread(file, ring, sees_kernel));
}

NativeThread::~NativeThread() {
  munmap(ring_, mappedSize());
  ::close(file_);
}

// A sample: u64 ip, u64 number of addresses, the addresses; marks of context are at the top of the range.
void NativeThread::keep(const std::uint8_t* record, std::size_t size) {
  constexpr auto kMarks = static_cast<Address>(PERF_CONTEXT_MAX);
  if (size < 16) return;
  Address leaf = 0;
  std::uint64_t count = 0;
  std::memcpy(&leaf, record, 8);
  std::memcpy(&count, record + 8, 8);
  chain_.clear();
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, (size - 16) / 8); ++i) {
    Address at = 0;
    std::memcpy(&at, record + 16 + i * 8, 8);
    if (at < kMarks) chain_.push_back(at);
  }
  if (chain_.empty() && leaf != 0) chain_.push_back(leaf);
}

std::span<const Address> NativeThread::take() {
  chain_.clear();
  auto& page = *static_cast<perf_event_mmap_page*>(ring_);
  const auto* data = static_cast<const std::uint8_t*>(ring_) + pageSize();
  const std::size_t size = ringSize();
  const std::uint64_t head = std::atomic_ref(page.data_head).load(std::memory_order_acquire);
  std::uint64_t tail = page.data_tail;
  while (head - tail >= sizeof(perf_event_header)) {
    perf_event_header header{};
    for (std::size_t i = 0; i < sizeof header; ++i)
      reinterpret_cast<std::uint8_t*>(&header)[i] = data[(tail + i) % size];
    if (header.size < sizeof header || header.size > head - tail) break;
    if (header.type == PERF_RECORD_SAMPLE) {
      record_.resize(header.size - sizeof header);
      for (std::size_t i = 0; i < record_.size(); ++i) record_[i] = data[(tail + sizeof header + i) % size];
      keep(record_.data(), record_.size());
    }
    tail += header.size;
  }
  std::atomic_ref(page.data_tail).store(head, std::memory_order_release);
  return chain_;
}

bool endsWithCall(std::span<const std::uint8_t, 7> before) {
#if defined(__x86_64__)
  if (before[2] == 0xe8) return true;  // call to a relative address: 5 bytes
  // Call through a register or memory: ff /2, of 2 to 7 bytes.
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    if (before[i] == 0xff && (before[i + 1] >> 3 & 7) == 2) return true;
  }
  return false;
#else
  (void)before;
  return true;
#endif
}

bool ChainCheck::isReturnAddress(Address at) {
  if (const auto known = known_.find(at); known != known_.end()) return known->second;
  std::array<std::uint8_t, 7> before{};
  // A failed read says nothing about the next.
  if (at <= before.size() || !memory_.read(at - before.size(), before.data(), before.size())) return false;
  const bool call = endsWithCall(before);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(at, call);
  return call;
}

}  // namespace pitwall::record
