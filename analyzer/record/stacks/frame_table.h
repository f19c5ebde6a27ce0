// Frames by number, each distinct one once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/event.h"

namespace pitwall::record {

class FrameTable {
 public:
  std::uint32_t number(const FrameInfo& frame) {
    const std::string key = frame.function + '\n' + frame.file + '\n' + std::to_string(frame.line);
    const auto [found, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(frame);
    return found->second;
  }
  const FrameInfo& operator[](std::uint32_t number) const { return frames_[number]; }
  std::size_t size() const { return frames_.size(); }

 private:
  std::vector<FrameInfo> frames_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace pitwall::record
