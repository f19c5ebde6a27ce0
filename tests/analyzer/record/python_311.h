// The memory of a made-up process that runs Python 3.11.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/record/stacks/python_stacks.h"

namespace pitwall::record::python_311 {

using Bytes = std::vector<std::uint8_t>;

// The memory of a made-up process.
class Memory : public ProcessMemory {
 public:
  using ProcessMemory::read;
  bool read(std::span<const Part> parts) const override {
    return std::ranges::all_of(parts, [&](const Part& part) {
      if (before_part) before_part();
      if (part.from < kBase || part.from - kBase > bytes.size() ||
          part.size > bytes.size() - (part.from - kBase))
        return false;
      std::memcpy(part.to, &bytes[part.from - kBase], part.size);
      return true;
    });
  }
  template <class T>
  void put(Address at, T value) {
    std::memcpy(&bytes.at(at - kBase), &value, sizeof value);
  }
  Address take(std::size_t size) {
    const Address at = kBase + next_;
    next_ += (size + 7) / 8 * 8;
    return at;
  }
  // A str; its size before the characters is 40 from 3.12 on.
  Address text(const std::string& value, std::size_t header = 48) {
    const Address at = take(header + value.size() + 1);
    put<std::uint64_t>(at + 16, value.size());
    put<std::uint32_t>(at + 32, 1u << 2 | 1u << 5 | 1u << 6);  // one byte a character, compact, ASCII
    std::memcpy(&bytes.at(at + header - kBase), value.data(), value.size());
    return at;
  }

  static constexpr Address kBase = 0x7e00'0000'0000;  // far from addresses of the test itself
  Bytes bytes = Bytes(1 << 16);
  std::function<void()> before_part;  // the process continues between parts of one call, too

 private:
  std::size_t next_ = 64;
};

// Python 3.11 with one thread, number 77, in inner() called by outer().
class Python311 : public testing::Test {
 protected:
  static constexpr std::uint32_t kCframeAt = 56;
  Python311() {
    type_ = memory_.take(64);
    const Address name = memory_.take(8);
    std::memcpy(&memory_.bytes.at(name - Memory::kBase), "code", 5);
    memory_.put(type_ + 24, name);
    runtime_ = memory_.take(1024);
    const Address interpreter = memory_.take(64);
    state_ = memory_.take(256);
    cframe_ = memory_.take(24);
    memory_.put(runtime_ + 40, interpreter);
    memory_.put(interpreter + 16, state_);
    memory_.put(state_ + kCframeAt, cframe_);
    memory_.put<std::uint64_t>(state_ + 160, 77);
    outer_ = frame(code("outer", 10), 0);
    inner_ = frame(code("inner", 50), outer_);
    memory_.put(cframe_ + 8, inner_);
    stacks_ = std::move(PythonStacks::create(memory_, frames_, runtime_, 11).value());
  }
  Address code(const std::string& name, int line) {
    const Address at = memory_.take(256);
    memory_.put(at + 8, type_);
    memory_.put(at + 72, line);
    memory_.put(at + 112, memory_.text("/x/a.py"));
    memory_.put(at + 120, memory_.text(name));
    memory_.put(at + 128, memory_.text("C." + name));
    const Address lines = memory_.take(64);
    memory_.put<std::int64_t>(lines + 16, 3);
    memory_.put<std::uint8_t>(lines + 32, 0x80 | 11 << 3 | 7);  // 8 units, one line further
    memory_.put(at + 136, lines);
    return at;
  }
  Address frame(Address code, Address previous) {
    const Address at = memory_.take(96);
    memory_.put(at + 32, code);
    memory_.put(at + 48, previous);
    memory_.put(at + 56, code + 184 + 4);
    return at;
  }
  PythonStacks::Read read(std::vector<std::string>& functions) {
    std::vector<std::uint32_t> numbers;
    const auto result = stacks_->read(77, numbers);
    functions.clear();
    for (const auto number : numbers)
      functions.push_back(frames_[number].function + ":" + std::to_string(frames_[number].line));
    return result;
  }

  Memory memory_;
  FrameTable frames_;
  Address type_ = 0, runtime_ = 0, state_ = 0, cframe_ = 0, outer_ = 0, inner_ = 0;
  std::unique_ptr<PythonStacks> stacks_;
  std::vector<std::string> functions_;
};

}  // namespace pitwall::record::python_311
