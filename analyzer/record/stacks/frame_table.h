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
  static constexpr std::size_t kMostBytes = 256 << 20;

  // `most_bytes`: of memory, about. Names come from the programs that are recorded and may be of any number.
  explicit FrameTable(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // When there is no room for another frame, that of "[other functions]".
  std::uint32_t number(const FrameInfo& frame) {
    std::string key = frame.function + '\n' + frame.file + '\n' + std::to_string(frame.line);
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
    const bool is_state = frame.language == kStateLanguage;  // of these there are few
    if (bytes_ > most_bytes_ && !is_state) {
      is_full_ = true;
      return add(kOther, {.function = kOther, .file = "", .line = 0, .language = frame.language});
    }
    return add(std::move(key), frame);
  }
  const FrameInfo& operator[](std::uint32_t number) const { return frames_[number]; }
  std::size_t size() const { return frames_.size(); }
  bool isFull() const { return is_full_; }

 private:
  static constexpr char kOther[] = "[other functions]";
  static constexpr std::size_t kBytesOfFrame = 200;  // besides its texts, which are kept twice

  std::uint32_t add(std::string key, const FrameInfo& frame) {
    const auto [found, fresh] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(frames_.size()));
    if (fresh) {
      bytes_ += 2 * found->first.size() + kBytesOfFrame;
      frames_.push_back(frame);
    }
    return found->second;
  }

  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  bool is_full_ = false;
  std::vector<FrameInfo> frames_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace pitwall::record
