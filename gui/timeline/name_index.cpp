#include "gui/timeline/name_index.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

constexpr std::uint32_t kBits = NameIndex::kWords * 64;

}  // namespace

NameSet::NameSet(const std::vector<bool>& names) : has_(names.begin(), names.end()) {
  std::array<std::uint64_t, NameIndex::kWords> bits{};
  for (std::size_t name = 0; name < has_.size(); ++name) {
    if (has_[name] == 0) continue;
    empty_ = false;
    bits[name % kBits / 64] |= std::uint64_t{1} << (name % 64);
  }
  for (std::size_t word = 0; word < bits.size(); ++word) {
    if (bits[word] != 0) words_.emplace_back(word, bits[word]);
  }
}

bool NameSet::mayBeIn(std::span<const std::uint64_t> bits) const {
  return std::any_of(words_.begin(), words_.end(),
                     [&](const auto& word) { return (bits[word.first] & word.second) != 0; });
}

NameIndex::NameIndex(const Lane& lane) {
  const std::size_t blocks = lane.size() / kBlock;
  std::vector<std::uint64_t> bits(blocks * kWords);
  const auto looks = lane.columns().look.values();
  for (std::size_t block = 0; block < blocks; ++block) {
    std::uint64_t* of_block = bits.data() + block * kWords;
    for (const std::uint32_t look : looks.subspan(block * kBlock, kBlock)) {
      const std::uint32_t name = Lane::nameOf(look);
      of_block[name % kBits / 64] |= std::uint64_t{1} << (name % 64);
    }
  }
  bits_ = Column<std::uint64_t>(std::move(bits));
}

bool NameIndex::mayHave(const NameSet& names, std::size_t block) const {
  const auto bits = bits_.values();
  return (block + 1) * kWords > bits.size() || names.mayBeIn(bits.subspan(block * kWords, kWords));
}

std::size_t NameIndex::first(const Lane& lane, const NameSet& names, std::size_t from,
                             std::size_t end) const {
  const auto looks = lane.columns().look.values();
  end = std::min(end, looks.size());
  for (std::size_t at = from; at < end;) {
    const std::size_t block_end = std::min(end, (at / kBlock + 1) * kBlock);
    if (!mayHave(names, at / kBlock)) {
      at = block_end;
      continue;
    }
    for (; at < block_end; ++at) {
      if (names.has(Lane::nameOf(looks[at]))) return at;
    }
  }
  return end;
}

std::optional<std::size_t> NameIndex::last(const Lane& lane, const NameSet& names, std::size_t from,
                                           std::size_t end) const {
  const auto looks = lane.columns().look.values();
  for (std::size_t at = std::min(end, looks.size()); at > from;) {
    const std::size_t block = (at - 1) / kBlock;
    const std::size_t begin = std::max(from, block * kBlock);
    if (mayHave(names, block)) {
      for (std::size_t i = at; i > begin; --i) {
        if (names.has(Lane::nameOf(looks[i - 1]))) return i - 1;
      }
    }
    at = begin;
  }
  return std::nullopt;
}

}  // namespace pitwall::gui
