// Finds events of some names in a lane without reading every event: for each 4096 events it is known which
// names may occur. A bit for every second event.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gui/timeline/lane.h"

namespace pitwall::gui {

// A set of names, for queries of many lanes.
class NameSet {
 public:
  explicit NameSet(const std::vector<bool>& names);  // by StringId.value

  bool empty() const { return empty_; }
  bool has(std::uint32_t name) const { return name < has_.size() && has_[name] != 0; }
  // Whether a block of these bits may hold one.
  bool mayBeIn(std::span<const std::uint64_t> bits) const;

 private:
  std::vector<std::uint8_t> has_;
  std::vector<std::pair<std::size_t, std::uint64_t>> words_;  // of the bits, those that are not 0
  bool empty_ = true;
};

class NameIndex {
 public:
  static constexpr std::size_t kBlock = 4096;  // events
  static constexpr std::size_t kWords = 32;    // 2048 bits: a trace of no more names is answered exactly

  // An empty index: every event is checked.
  NameIndex() = default;
  explicit NameIndex(const Lane& lane);
  explicit NameIndex(Column<std::uint64_t> bits) : bits_(std::move(bits)) {}

  // Index of the first such event in [from, end), `end` when there is none; of the last, nullopt.
  std::size_t first(const Lane& lane, const NameSet& names, std::size_t from, std::size_t end) const;
  std::optional<std::size_t> last(const Lane& lane, const NameSet& names, std::size_t from,
                                  std::size_t end) const;

  const Column<std::uint64_t>& bits() const { return bits_; }

 private:
  bool mayHave(const NameSet& names, std::size_t block) const;

  Column<std::uint64_t> bits_;  // kWords for each block that is full
};

}  // namespace pitwall::gui
