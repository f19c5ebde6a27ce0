#include "runtime/profiler/device_tracks.h"

#include <new>
#include <string>

#include "db/ring_decoder.h"

namespace pitwall::profiler {

namespace {

// Operators that are open one after the other are all on the first track.
std::uint64_t recordsOf(std::size_t track) { return track == 1 ? 16384 : 512; }

// "cpu 1 asynchronous", then "cpu 1 asynchronous 2", as streams of imported traces are named.
std::string nameOf(std::uint8_t device, std::size_t track) {
  const DeviceInfo info = ring::deviceOf(device);
  std::string name = info.kind + " " + std::to_string(info.index) + " asynchronous";
  if (track > 1) name += " " + std::to_string(track);
  return name;
}

}  // namespace

DeviceTracks::~DeviceTracks() {
  for (auto& slots : devices_) delete slots.load(std::memory_order_relaxed);
}

DeviceTracks::Slots* DeviceTracks::slotsOf(std::uint8_t device) {
  std::atomic<Slots*>& known = devices_[device];
  if (Slots* const slots = known.load(std::memory_order_acquire); slots != nullptr) return slots;
  auto* const fresh = new (std::nothrow) Slots;
  Slots* first = nullptr;
  if (fresh == nullptr || known.compare_exchange_strong(first, fresh, std::memory_order_acq_rel))
    return fresh;
  delete fresh;
  return first;
}

std::uint16_t DeviceTracks::take(std::uint8_t device) {
  Slots* const slots = slotsOf(device);
  if (slots == nullptr) return 0;
  for (std::uint16_t i = 0; i < kMost; ++i) {
    Slot& slot = (*slots)[i];
    if (slot.taken.load(std::memory_order_relaxed) || slot.taken.exchange(true, std::memory_order_acquire))
      continue;
    if (slot.ring == nullptr)
      slot.ring = logs_.forTrack(nameOf(device, i + 1U), device + 1U, recordsOf(i + 1U));
    if (slot.ring != nullptr) return static_cast<std::uint16_t>(i + 1);
    slot.taken.store(false, std::memory_order_release);
    return 0;
  }
  return 0;
}

}  // namespace pitwall::profiler
