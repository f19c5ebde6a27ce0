#include <utility>

#include "runtime/memory.h"

namespace pitwall {

Block::Block(Block&& other) noexcept
    : storage_(std::exchange(other.storage_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)),
      tag_(other.tag_) {}

Block& Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  if (data_ != nullptr) storage_->free(*this);
  storage_ = std::exchange(other.storage_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  tag_ = other.tag_;
  return *this;
}

Block::~Block() {
  if (data_ != nullptr) storage_->free(*this);
}

Block Storage::makeBlock(Storage& storage, void* data, Bytes size, Bytes capacity, MemoryTag tag) {
  Block block;
  block.storage_ = &storage;
  block.data_ = data;
  block.size_ = size;
  block.capacity_ = capacity;
  block.tag_ = tag;
  return block;
}

}  // namespace pitwall
