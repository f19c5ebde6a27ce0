// Writes strict JSON (RFC 8259) from any text.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace pitwall::exporting {

// A number, quoted where a double cannot represent it exactly (at and beyond 2^53).
void appendInteger(fmt::memory_buffer& out, std::int64_t value);
void appendInteger(fmt::memory_buffer& out, std::uint64_t value);

// Shortest text that reads back as the same double; "NaN", "Infinity" and "-Infinity" are quoted.
void appendReal(fmt::memory_buffer& out, double value);

// Nanoseconds as microseconds: 1234 is 1.234.
void appendMicroseconds(fmt::memory_buffer& out, std::int64_t ns);

// Whether the text is one JSON object and nothing else, on one line.
bool isJsonObject(std::string_view text);

}  // namespace pitwall::exporting
