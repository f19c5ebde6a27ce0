// Sorting by a number, least digit first; digits in which all keys agree are skipped. Items with equal
// keys stay as they are.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace pitwall::gui {

// A number and what it is sorted by.
template <class Key>
struct Keyed {
  Key key;
  std::uint32_t number;
};

// Writes the numbers of `items` into `out`, which is as long, by key. `other` is memory for as many items;
// both are overwritten. Before each pass `stopped` is called: if it returns true, `out` has no defined order.
template <int kDigitBits, class Key, class Stopped>
void radixSort(std::span<Keyed<Key>> items, std::span<Keyed<Key>> other, std::span<std::uint32_t> out,
               Stopped stopped) {
  static_assert(std::is_unsigned_v<Key>);
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  Key all = static_cast<Key>(~Key{0}), any = 0;
  for (const Keyed<Key>& item : items) {
    all &= item.key;
    any |= item.key;
  }
  Key differs = all ^ any;
  std::array<std::uint32_t, kDigits> at;
  while (differs != 0 && !stopped()) {
    const int shift = std::countr_zero(differs);
    differs = static_cast<Key>(differs & ~(Key{kDigits - 1} << shift));
    at.fill(0);
    for (const Keyed<Key>& item : items) ++at[item.key >> shift & (kDigits - 1)];
    std::uint32_t sum = 0;
    for (std::uint32_t& count : at) {
      const std::uint32_t own = count;
      count = sum;
      sum += own;
    }
    if (differs == 0) {
      for (const Keyed<Key>& item : items) out[at[item.key >> shift & (kDigits - 1)]++] = item.number;
      return;
    }
    for (const Keyed<Key>& item : items) other[at[item.key >> shift & (kDigits - 1)]++] = item;
    std::swap(items, other);
  }
  for (std::size_t i = 0; i < items.size(); ++i) out[i] = items[i].number;
}

}  // namespace pitwall::gui
