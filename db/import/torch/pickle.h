// Reads the data of a Python pickle: numbers, texts, lists, tuples and dictionaries of protocols 0 to 5.
//
// A pickle is a program: its other instructions import modules, call functions and set the state of objects. None of
// them is executed; the first one ends the reading with a message that names it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/import/input/window.h"
#include "db/result.h"

namespace pitwall::import {

enum class PickleType : std::uint8_t { none, boolean, integer, real, text, list, tuple, dictionary };

struct PickleValue {
  PickleType type = PickleType::none;
  union {
    std::int64_t integer = 0;  // also of a boolean; the lowest 64 bits of a larger one
    double real;
    std::size_t index;  // of a text or a container
  };
};

class Pickle {
 public:
  // Errors: as Window::more; invalidInput (no pickle, cut, or one that calls code), unsupported (more than 16 million
  // values, 4 million containers or 64 MiB of text).
  static Result<Pickle> read(Window& window);

  const PickleValue& root() const { return root_; }
  std::string_view text(const PickleValue& value) const;  // empty when it is none
  // Of a list or tuple; of a dictionary names and values in turn. The same values may occur at several places, also
  // within themselves.
  std::span<const PickleValue> items(const PickleValue& value) const;
  // Of a dictionary, among its first 64 members; of type none where there is no such member.
  PickleValue member(const PickleValue& dictionary, std::string_view name) const;
  std::size_t values() const { return values_; }  // in all containers

 private:
  friend class PickleMachine;
  PickleValue root_;
  std::vector<std::string> texts_;
  std::vector<std::vector<PickleValue>> containers_;
  std::size_t values_ = 0;
};

}  // namespace pitwall::import
