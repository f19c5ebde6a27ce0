// What the fuzzer drives: each target takes any bytes, hands them to Pitwall through the entry point that a
// user reaches, and ends the process when what comes back contradicts itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pitwall::fuzz {

struct Target {
  const char* name;  // also of its folders of seeds and of inputs that once failed
  void (*run)(std::span<const std::uint8_t> input);
};

// One for each reader, one for compressed files, one for opening and querying a trace, one
// for the redaction of secrets, and those of graphTargets().
std::span<const Target> targets();

// The files of networks, of records and of rows of numbers; empty without the runtime.
std::span<const Target> graphTargets();

// Null when there is none of this name.
const Target* findTarget(const char* name);

}  // namespace pitwall::fuzz
