// The corpus of real traces, if available: $PITWALL_TRACE_CORPUS, else ../shared/traces beside the source.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace pitwall::test {

// Empty when there is no corpus.
std::string corpusFolder();

// An object of EXPECTED_COUNTS.json, flattened: "ph/X" -> "2799", "gpu/0/busy_union_us" -> "51.0".
using Expected = std::map<std::string, std::string>;
const std::map<std::string, Expected>& expectedCounts();

// The members below "PREFIX/", without the prefix.
Expected below(const Expected& expected, const std::string& prefix);

std::string readFile(const std::string& path);

}  // namespace pitwall::test

#define PITWALL_NEEDS_CORPUS()               \
  if (pitwall::test::corpusFolder().empty()) \
  GTEST_SKIP() << "no corpus of traces here: set PITWALL_TRACE_CORPUS to its folder to run this test"
