// Consecutive values, either owned or in a file that is mapped into memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pitwall::gui {

template <class T>
class Column {
 public:
  Column() = default;
  explicit Column(std::vector<T> values) : own_(std::move(values)) {}
  // `owner` keeps the memory of `values` alive.
  Column(std::span<const T> values, std::shared_ptr<const void> owner)
      : mapped_(values), owner_(std::move(owner)) {}

  std::span<const T> values() const { return owner_ ? mapped_ : std::span<const T>(own_); }
  const T* data() const { return values().data(); }
  std::size_t size() const { return values().size(); }
  const T& operator[](std::size_t i) const { return data()[i]; }

  // Precondition of the calls below: the values are owned.
  std::vector<T>& own() { return own_; }

  // Of what is owned.
  std::size_t memoryBytes() const { return own_.capacity() * sizeof(T); }

 private:
  std::vector<T> own_;
  std::span<const T> mapped_;
  std::shared_ptr<const void> owner_;  // null: owned
};

}  // namespace pitwall::gui
