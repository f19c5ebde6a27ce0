// A set of many numbers that are close together, as correlation numbers are: about a bit each.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace pitwall::analysis {

class IdSet {
 public:
  // Whether the number was not in it before.
  bool insert(std::uint64_t id) {
    auto& word = pages_[id / kIdsOfPage][id / 64 % kWords];
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

 private:
  static constexpr std::uint64_t kWords = 8, kIdsOfPage = kWords * 64;
  std::unordered_map<std::uint64_t, std::array<std::uint64_t, kWords>> pages_;
};

}  // namespace pitwall::analysis
