// Parses numbers and names of imported files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/units.h"

namespace pitwall::import {

// A decimal number times `scale` (1000 turns microseconds into nanoseconds), rounded to the nearest integer
// without going through a double. Takes "+10.5", ".75", "246.", "1.5e3"; rejects "100a", "1.5e", ".", "", and
// values beyond kLatestNs.
std::optional<std::int64_t> parseScaled(std::string_view text, std::int64_t scale);
// The same as a double.
std::optional<double> parseReal(std::string_view text);
// Decimal digits only, as unsigned or negative 64-bit (the bit pattern of values beyond int64).
std::optional<std::int64_t> parseInteger(std::string_view text);

// Times beyond this (146 years either way) are rejected, so that differences never overflow.
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 62;

// Appends valid UTF-8 without control characters: bytes that are neither become U+FFFD. Returns whether
// something was replaced. Text longer than kLongestName is truncated.
bool appendClean(std::string_view text, std::string& out);
inline constexpr std::size_t kLongestName = 8192;
// `text` cleaned like that, as a JSON string.
std::string cleanJsonString(std::string_view text);

// The number of the training step in a range's name: "ProfilerStep#12", "iteration 12", "step_12".
std::optional<std::int64_t> stepNumber(std::string_view name);

// `text` for a message: truncated, control characters replaced, in quotes.
std::string quotedText(std::string_view text, std::size_t longest = 100);

}  // namespace pitwall::import
