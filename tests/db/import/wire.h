// Protocol Buffers' wire format, written and read independently of the import: messages for cases, and a
// reader whose answers the import's are compared with.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::test {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}
inline std::string number(std::uint64_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string bytes(std::uint64_t field, std::string_view content) {
  return varint(field << 3 | 2) + varint(content.size()) + std::string(content);
}
inline std::string fixed64(std::uint64_t field, std::uint64_t value) {
  std::string out = varint(field << 3 | 1);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
inline std::string real(std::uint64_t field, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return fixed64(field, bits);
}

// The fields of an undamaged message: all values of each number.
struct Decoded {
  std::map<std::uint64_t, std::vector<std::uint64_t>> numbers;
  std::map<std::uint64_t, std::vector<std::string>> texts;

  std::uint64_t one(std::uint64_t field) const {
    const auto found = numbers.find(field);
    return found == numbers.end() ? 0 : found->second.back();
  }
  std::string text(std::uint64_t field) const {
    const auto found = texts.find(field);
    return found == texts.end() ? std::string() : found->second.back();
  }
  std::vector<Decoded> messages(std::uint64_t field) const;
};

inline Decoded decoded(const std::string& message) {
  Decoded out;
  std::size_t at = 0;
  const auto take = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(at++));
      value += static_cast<std::uint64_t>(byte % 128) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.size()) {
    const std::uint64_t tag = take();
    if (tag % 8 == 2) {
      const std::uint64_t length = take();
      out.texts[tag / 8].push_back(message.substr(at, length));
      at += length;
    } else if (tag % 8 == 0) {
      out.numbers[tag / 8].push_back(take());
    } else {
      std::uint64_t value = 0;
      const std::size_t length = tag % 8 == 1 ? 8 : 4;
      std::memcpy(&value, message.data() + at, length);
      out.numbers[tag / 8].push_back(value);
      at += length;
    }
  }
  return out;
}

inline std::vector<Decoded> Decoded::messages(std::uint64_t field) const {
  std::vector<Decoded> out;
  if (const auto found = texts.find(field); found != texts.end()) {
    for (const std::string& text : found->second) out.push_back(decoded(text));
  }
  return out;
}

}  // namespace pitwall::test
