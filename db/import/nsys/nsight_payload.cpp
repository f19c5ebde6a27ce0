#include "db/import/nsys/nsight_payload.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "db/import/input/json.h"
#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kIntegers = 4, kReals = 6, kJson = 6, kJsonId = 7, kBinary = 8, kCategory = 9;

void append(std::string& members, std::string_view name, std::string_view value) {
  members += fmt::format("{}\"{}\":{}", members.empty() ? "" : ",", name, value);
}

}  // namespace

// Unchanged where it is JSON, else as text.
void NsightPayload::json(std::string_view text, std::string& members) {
  JsonScanner scanner(text);
  JsonValue value;
  const bool whole = scanner.value(value) == JsonStatus::ok && scanner.peek() == 0 && scanner.repairs() == 0;
  if (!whole || value.type == JsonType::none) {
    append(members, "payload", cleanJsonString(text));
    return;
  }
  std::string clean;
  appendClean(compact(text), clean);
  append(members, "payload", clean);
}

void NsightPayload::read(const store::ForeignRow& row, std::size_t first, Event& event,
                         std::string& members) {
  if (const std::int64_t category = row.integer(first + kCategory); category != 0)
    append(members, "category", std::to_string(category));
  for (std::size_t i = 0; i < kIntegers; ++i) {
    if (!row.isNull(first + i)) event.value = row.integer(first + i);
  }
  for (std::size_t i = kIntegers; i < kReals; ++i) {
    if (row.isNull(first + i)) continue;
    const double value = row.real(first + i);
    append(members, "payload",
           std::isfinite(value) ? fmt::format("{}", value) : fmt::format("\"{}\"", value));
  }
  if (!row.isNull(first + kJson)) {
    json(row.text(first + kJson), members);
  } else if (!row.isNull(first + kJsonId)) {
    json(names_.string(row.integer(first + kJsonId), "payload"), members);
  }
  if (!row.isNull(first + kBinary)) {
    // The tables give neither the schema of the bytes nor their encoding.
    builder_.tally().notUnderstood("NVTX payloads in binary form", row.text(first + kBinary).substr(0, 80));
  }
}

}  // namespace pitwall::import
