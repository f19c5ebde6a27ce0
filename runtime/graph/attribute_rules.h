// What an operator's attributes may be, and reading them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/symbol.h"

namespace pitwall::graph {

enum class AttributeKind : std::uint8_t {
  integer,
  real,
  boolean,  // True, False, 1, 0
  tuple,    // of integers: (3, 3), [3, 3], (3,), (), 3
  choice,
  unused,  // of no effect here: a setting for a GPU, or for a library that is not used
};

struct AttributeRule {
  const char* name;
  AttributeKind kind;
  const char* standard = nullptr;  // the value where none is given; null = it must be given
  const char* choices = "";        // of a choice: "max|avg|sum|lp"
  std::int64_t minimum = -std::numeric_limits<std::int32_t>::max();  // of an integer, of each of a tuple's
  bool may_be_none = false;                                          // None is a value, or the standard
  std::int64_t maximum = std::numeric_limits<std::int32_t>::max();   // as minimum
};

// Whether all of `attributes` are known, well-formed and within bounds, and none is missing. Names in two underscores,
// such as __lr_mult__, belong to other programs and may have any value. Errors: invalidInput naming the attribute, its
// value and what is allowed; the caller adds the node.
Status checkAttributes(std::span<const AttributeRule> rules, const Attributes& attributes);

// Of attributes that checkAttributes() accepts. Each name is one of the rules.
class AttributeReader {
 public:
  AttributeReader(std::span<const AttributeRule> rules, const Attributes& attributes)
      : rules_(rules), attributes_(attributes) {}

  std::int64_t integer(std::string_view name) const;
  std::optional<std::int64_t> integerOrNone(std::string_view name) const;
  double real(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::vector<std::int64_t> tuple(std::string_view name) const;
  std::string_view choice(std::string_view name) const;
  bool isNone(std::string_view name) const { return text(name) == "None"; }

 private:
  std::string_view text(std::string_view name) const;
  std::span<const AttributeRule> rules_;
  const Attributes& attributes_;
};

// "(3, 3)", "(0,)" as parts. Empty optional: not a tuple of integers.
std::optional<std::vector<std::int64_t>> parseTuple(std::string_view text);

}  // namespace pitwall::graph
