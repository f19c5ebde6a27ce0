// A cache of the values of recent texts, so that the next event with the same name, category or thread needs
// no full lookup. Entries may be dropped at any time: it holds a few thousand, for files of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pitwall::import {

// A number, and up to two texts.
struct TextKey {
  std::uint64_t number = 0;
  std::string_view first = {};
  std::string_view second = {};
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t product = (a ^ b) * 0x9e3779b97f4a7c15ULL;
  return product ^ (product >> 29);
}

// Hashes only a part of a long text; entries are compared completely.
inline std::uint64_t hashOf(std::uint64_t seed, std::string_view text) {
  const auto word = [&](std::size_t at) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    return bytes;
  };
  const std::size_t size = text.size();
  std::uint64_t hash = mixed(seed, size);
  if (size > 64) {
    for (std::size_t i = 0; i < 8; ++i) hash = mixed(hash, word((size - 8) * i / 7));
    return hash;
  }
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) hash = mixed(hash, word(at));
    return mixed(hash, word(size - 8));
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < size; ++i) bytes = bytes << 8 | static_cast<unsigned char>(text[i]);
  return mixed(hash, bytes);
}

template <class Value, std::size_t kEntries = 1024>
class RecentTexts {
 public:
  RecentTexts() : entries_(kEntries) {}

  // Null when it is not in the cache. The pointer is valid until the next put().
  Value* find(const TextKey& key) {
    const std::uint64_t hash = hashOf(key);
    for (std::size_t i = 0; i < kNear; ++i) {
      Entry& entry = entries_[(hash + i) % kEntries];
      if (entry.hash == hash && entry.isFor(key)) return &entry.value;
    }
    return nullptr;
  }

  Value& put(const TextKey& key, Value value) {
    const std::uint64_t hash = hashOf(key);
    if (key.first.size() + key.second.size() > kLongest) return unkept_ = std::move(value);
    std::size_t at = (hash + (hash >> 40) % kNear) % kEntries;  // when all near it are taken
    for (std::size_t i = 0; i < kNear; ++i) {
      if (entries_[(hash + i) % kEntries].hash == 0) {
        at = (hash + i) % kEntries;
        break;
      }
    }
    Entry& entry = entries_[at];
    entry.hash = hash;
    entry.number = key.number;
    entry.first_size = key.first.size();
    entry.text.assign(key.first).append(key.second);
    entry.value = std::move(value);
    return entry.value;
  }

  void clear() { entries_.assign(kEntries, {}); }

 private:
  static constexpr std::size_t kNear = 4;
  static constexpr std::size_t kLongest = 4096;  // of the texts of an entry

  struct Entry {
    std::uint64_t hash = 0;  // 0 = empty
    std::uint64_t number = 0;
    std::size_t first_size = 0;
    std::string text;  // both
    Value value = {};
    bool isFor(const TextKey& key) const {
      return number == key.number && first_size == key.first.size() &&
             text.size() == key.first.size() + key.second.size() &&
             std::string_view(text).substr(0, first_size) == key.first &&
             std::string_view(text).substr(first_size) == key.second;
    }
  };

  static std::uint64_t hashOf(const TextKey& key) {
    std::uint64_t hash = import::hashOf(key.number, key.first);
    if (!key.second.empty()) hash = import::hashOf(hash, key.second);
    return hash | 1;
  }

  std::vector<Entry> entries_;
  Value unkept_ = {};
};

}  // namespace pitwall::import
