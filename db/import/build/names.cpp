#include "db/import/build/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kDistinctFacts = std::size_t{1} << 16;
// Memory limit of distinct names and arguments, including their entries in the sink's table.
constexpr std::size_t kDistinctBytes = std::size_t{48} << 20;
constexpr std::size_t kBytesOfAnEntry = 96;

// The text with every run of digits replaced by one '#', so that numbered names become one.
std::string withoutNumbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

}  // namespace

StringId Names::distinct(std::string_view text, std::string_view what) {
  std::string shorter;
  if (distinct_bytes_ > kDistinctBytes) {
    shorter = distinct_bytes_ > kDistinctBytes + kDistinctBytes / 4 ? "(others)" : withoutNumbers(text);
    tally_.repaired(fmt::format("{} beyond the first {} MB of different ones: numbers in them replaced by #",
                                what, kDistinctBytes >> 20),
                    text);
    text = shorter;
  }
  const StringId id = sink_.string(text);
  if (id.value > newest_text_.value) {  // ids are dense: it is new
    newest_text_ = id;
    distinct_bytes_ += text.size() + kBytesOfAnEntry;
  }
  return id;
}

StringId Names::name(std::string_view text) {
  if (const StringId* known = recent_.find({0, text})) return *known;
  std::string clean;
  const bool replaced = appendClean(text, clean);
  if (replaced) tally_.repaired("names with bytes that are not text, or too long", clean);
  const StringId id = distinct(clean, "names");
  return replaced ? id : recent_.put({0, text}, id);
}

StringId Names::args(std::string_view object) {
  if (object.size() > kLongestName || distinct_bytes_ > kDistinctBytes) {
    tally_.dropped("arguments of events that are too long or of too many kinds", object);
    return {};
  }
  return distinct(object, "arguments");
}

OperatorId Names::facts(const OperatorFacts& facts) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", facts.name, facts.layer, facts.shapes,
                  facts.dtype, facts.backend, facts.implementation, static_cast<int>(facts.phase), facts.flop,
                  facts.bytes_read, facts.bytes_written);
  if (const auto found = facts_.find(key); found != facts_.end()) return found->second;
  if (facts_.size() >= kDistinctFacts) {
    tally_.note(fmt::format("more than {} different operators: the facts of the others are left out",
                            kDistinctFacts));
    return {};
  }
  OperatorFacts clean = facts;
  for (std::string* text :
       {&clean.name, &clean.layer, &clean.shapes, &clean.dtype, &clean.backend, &clean.implementation}) {
    std::string fixed;
    appendClean(*text, fixed);
    *text = std::move(fixed);
  }
  const OperatorId id = sink_.operatorFacts(clean);
  new_operator_(id, clean);
  return facts_[key] = id;
}

KernelId Names::kernel(const KernelFacts& facts) {
  if (kernels_ >= kDistinctFacts) {
    tally_.note(fmt::format("more than {} different facts of kernels: those of the others are left out",
                            kDistinctFacts));
    return {};
  }
  const KernelId id = sink_.kernelFacts(facts);
  kernels_ = std::max<std::size_t>(kernels_, id.value);
  return id;
}

}  // namespace pitwall::import
