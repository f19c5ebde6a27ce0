// A cache of the lines of a verbose log. A program runs the same few primitives repeatedly: except for its
// time, a line is one of some hundred, and comparing it is ten times faster than parsing it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/build/builder.h"

namespace pitwall::import {

// The result of a line, without its times.
struct KnownLine {
  TrackRef track;
  Event event;
  std::int64_t* records = nullptr;  // counter of its kind
};

class KnownLines {
 public:
  const KnownLine* find(std::string_view text) const {
    if (slots_.empty()) return nullptr;
    const std::uint64_t hash = hashOf(text);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const std::uint32_t index = slots_[at];
      if (index == 0) return nullptr;
      const Entry& entry = entries_[index - 1];
      if (entry.hash == hash && entry.text == text) return &entry.line;
    }
  }

  // Adds a new text. Beyond some number and length nothing is stored.
  void add(std::string_view text, const KnownLine& line) {
    if (entries_.size() >= kMost || text.size() > kLongest) return;
    if (entries_.size() * 2 >= slots_.size()) grow();
    entries_.push_back({hashOf(text), std::string(text), line});
    place(entries_.back().hash, static_cast<std::uint32_t>(entries_.size()));
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 15;
  static constexpr std::size_t kLongest = 2048;

  struct Entry {
    std::uint64_t hash;
    std::string text;
    KnownLine line;
  };

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 29;
  }
  static std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = text.size();
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; at += 8, left -= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      hash = mix(hash, word);
    }
    std::uint64_t word = 0;
    if (left > 0) std::memcpy(&word, at, left);
    return mix(hash, word);
  }
  void place(std::uint64_t hash, std::uint32_t index) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = index;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      place(entries_[i].hash, static_cast<std::uint32_t>(i + 1));
  }

  std::vector<std::uint32_t> slots_;  // index into entries_ plus 1; a power of two of them
  std::vector<Entry> entries_;
};

}  // namespace pitwall::import
