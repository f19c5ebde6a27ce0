// Common code of the tests of arrays, operators and layers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/autograd.h"
#include "runtime/nn.h"
#include "runtime/operators.h"
#include "runtime/optimizer.h"
#include "runtime/session.h"

namespace pitwall::test {

using SettingList = std::vector<std::pair<std::string, std::string>>;

inline std::unique_ptr<Session> openSession(const std::string& backend = "reference",
                                            SettingList settings = {}) {
  auto session = Session::open({.trace_path = "", .backend = backend, .settings = std::move(settings)});
  EXPECT_TRUE(session.has_value()) << (session.has_value() ? "" : session.error().message);
  return session.has_value() ? std::move(session).value() : nullptr;
}

// The backends of this build that compute.
inline std::vector<std::string> computingBackends() {
  std::vector<std::string> names;
  for (const std::string_view name : backendNames())
    if (name != "null") names.emplace_back(name);
  return names;
}

// The value, or a failed test and an abort: for calls that must not fail.
template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << result.error().message;
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// Deterministic numbers in [low, high), the same on every machine.
inline std::vector<float> numbers(std::int64_t count, std::uint32_t seed, float low = -1, float high = 1) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = low + (high - low) * static_cast<float>(state >> 8) / 16777216.0F;
  }
  return values;
}

// Distinct numbers, at least 0.05 apart and away from 0, in a random order: for operators with kinks.
inline std::vector<float> distinctNumbers(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.05F * (static_cast<float>(i) + 0.5F - static_cast<float>(count) / 2) + 0.01F;
  const std::vector<float> order = numbers(count, seed, 0, 1);
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(order[i - 1] * static_cast<float>(i))]);
  return values;
}

inline NDArray arrayOf(Session& session, const Shape& shape, std::uint32_t seed, float low = -1,
                       float high = 1) {
  return NDArray::fromValues(session, shape, numbers(shape.elements(), seed, low, high));
}

}  // namespace pitwall::test
