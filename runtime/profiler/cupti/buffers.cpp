#include "runtime/profiler/cupti/buffers.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace pitwall::cupti {

namespace {
constexpr std::size_t kAlignment = 4096;  // CUPTI requires 8
}

Buffers::Buffers(const BufferPlan& plan) : bytes_(plan.bytes) {
  const ScopedLock lock(mutex_);
  for (std::size_t i = 0; i < plan.count; ++i) {
    auto* const memory = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, bytes_));
    if (memory == nullptr) break;
    std::memset(memory, 0, bytes_);
    own_.insert(memory);
    free_.push_back(memory);
  }
}

Buffers::~Buffers() {
  const ScopedLock lock(mutex_);
  for (std::uint8_t* const memory : own_) std::free(memory);
}

void Buffers::retire() {
  const ScopedLock lock(mutex_);
  retired_ = true;
  for (std::uint8_t* const memory : free_) {
    own_.erase(memory);
    std::free(memory);
  }
  free_.clear();
}

std::uint8_t* Buffers::take() {
  const ScopedLock lock(mutex_);
  if (free_.empty()) {
    ++refused_;
    return nullptr;
  }
  std::uint8_t* const buffer = free_.back();
  free_.pop_back();
  ++lent_;
  return buffer;
}

void Buffers::filled(std::uint8_t* buffer, std::size_t valid_bytes) {
  {
    const ScopedLock lock(mutex_);
    if (own_.count(buffer) == 0) return;
    --lent_;
    if (!closed_) return filled_.push_back({buffer, valid_bytes});
  }
  giveBack({buffer, valid_bytes});
}

void Buffers::close() {
  const ScopedLock lock(mutex_);
  closed_ = true;
}

std::vector<Buffers::Filled> Buffers::takeFilled() {
  const ScopedLock lock(mutex_);
  return std::exchange(filled_, {});
}

void Buffers::giveBack(const Filled& buffer) {
  std::memset(buffer.data, 0, buffer.bytes);
  const ScopedLock lock(mutex_);
  if (!retired_) return free_.push_back(buffer.data);
  own_.erase(buffer.data);
  std::free(buffer.data);
}

std::size_t Buffers::lent() const {
  const ScopedLock lock(mutex_);
  return lent_;
}

std::int64_t Buffers::refused() const {
  const ScopedLock lock(mutex_);
  return refused_;
}

}  // namespace pitwall::cupti
