// Memory of another process, read without stopping it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace pitwall::record {

using Address = std::uint64_t;  // in the other process

class ProcessMemory {
 public:
  struct Part {
    Address from = 0;
    void* to = nullptr;
    std::size_t size = 0;
  };
  virtual ~ProcessMemory() = default;
  // All parts in one call, in order, so that they are of nearly the same time. False: some could not be read.
  virtual bool read(std::span<const Part> parts) const = 0;

  bool read(Address from, void* to, std::size_t size) const {
    const Part part{from, to, size};
    return read({&part, 1});
  }
  template <class T>
  std::optional<T> value(Address from) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (!read(from, &value, sizeof value)) return std::nullopt;
    return value;
  }
};

class RemoteMemory final : public ProcessMemory {
 public:
  static constexpr std::size_t kMostParts = 1024;  // of one call; the kernel's limit

  explicit RemoteMemory(pid_t pid) : pid_(pid) {}
  using ProcessMemory::read;
  bool read(std::span<const Part> parts) const override;
  // Of the last call that failed; EPERM: this user may not read the process.
  int lastError() const { return error_; }

 private:
  pid_t pid_;
  mutable int error_ = 0;
};

}  // namespace pitwall::record
