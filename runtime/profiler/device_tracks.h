// The tracks of devices for operators that complete on another thread than the one that started them: as many as are
// open at once, each with a ring. Whoever has taken a track is the ring's only writer until it gives the track back.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "runtime/profiler/thread_log.h"

namespace pitwall::profiler {

class DeviceTracks {
 public:
  static constexpr std::uint16_t kMost = 256;  // of a device

  explicit DeviceTracks(ThreadLogs& logs) : logs_(logs) {}
  ~DeviceTracks();
  DeviceTracks(const DeviceTracks&) = delete;
  DeviceTracks& operator=(const DeviceTracks&) = delete;

  // The lowest free number, so that there are no more tracks than operators were open at once. 0 = none is free, or
  // there is no memory. The device as db/ring_format.h numbers it. Any thread; locks and allocates only when there is
  // a new track.
  std::uint16_t take(std::uint8_t device);
  // Precondition: taken.
  Ring& ring(std::uint8_t device, std::uint16_t track) { return *slotOf(device, track).ring; }
  void give(std::uint8_t device, std::uint16_t track) {
    slotOf(device, track).taken.store(false, std::memory_order_release);
  }

 private:
  struct Slot {
    std::atomic<bool> taken{false};
    Ring* ring = nullptr;  // of whoever has taken it
  };
  using Slots = std::array<Slot, kMost>;

  Slots* slotsOf(std::uint8_t device);
  Slot& slotOf(std::uint8_t device, std::uint16_t track) {
    return (*devices_[device].load(std::memory_order_acquire))[track - 1U];
  }

  ThreadLogs& logs_;  // owns the rings
  std::array<std::atomic<Slots*>, 256> devices_{};
};

}  // namespace pitwall::profiler
