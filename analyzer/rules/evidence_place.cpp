#include "analyzer/rules/evidence_place.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace pitwall::rules {
namespace {

constexpr std::string_view kHidden = "at_";
constexpr std::string_view kHiddenColumns[] = {"at_start_ns", "at_dur_ns", "at_op"};

// A row of evidence by its columns.
class PlaceRow {
 public:
  PlaceRow(const std::vector<std::string>& columns, const std::vector<SqlValue>& row)
      : columns_(columns), row_(row) {}

  std::optional<std::int64_t> number(std::string_view column) const {
    const SqlValue* value = find(column);
    if (value == nullptr) return std::nullopt;
    if (const auto* integer = std::get_if<std::int64_t>(value)) return *integer;
    const auto* real = std::get_if<double>(value);
    // Larger ones are no time.
    return real != nullptr && std::abs(*real) < 9e18 ? std::optional(static_cast<std::int64_t>(*real))
                                                     : std::nullopt;
  }
  std::string text(std::string_view column) const {
    const SqlValue* value = find(column);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
    return text == nullptr ? std::string() : *text;
  }

 private:
  const SqlValue* find(std::string_view column) const {
    const auto at = std::ranges::find(columns_, column);
    return at == columns_.end() ? nullptr : &row_[static_cast<std::size_t>(at - columns_.begin())];
  }

  const std::vector<std::string>& columns_;
  const std::vector<SqlValue>& row_;
};

}  // namespace

bool isPlaceColumn(const std::string& column) { return column.starts_with(kHidden); }

EvidencePlace placeOf(const std::vector<std::string>& columns, const std::vector<SqlValue>& row) {
  const PlaceRow of(columns, row);
  EvidencePlace place;
  place.start_ns = of.number("at_start_ns");
  if (!place.start_ns) place.start_ns = of.number("start_ns");
  if (place.start_ns) {
    place.dur_ns = of.number("at_dur_ns");
    if (!place.dur_ns) place.dur_ns = of.number("dur_ns");
  }
  place.op = of.number("at_op").value_or(0);
  place.name = of.text("name");
  if (place.name.empty()) place.name = of.text("operator");
  place.device = of.text("device");
  place.thread = of.text("thread");
  place.counter = of.text("tag");
  place.rank = of.number("rank");
  place.pid = of.number("pid");
  return place;
}

Status checkPlaceColumns(const std::vector<std::string>& columns, const std::string& place) {
  for (const auto& column : columns) {
    if (isPlaceColumn(column) && std::ranges::find(kHiddenColumns, column) == std::end(kHiddenColumns))
      return fail(ErrorCode::invalidInput, place + ": column " + column +
                                               " of the evidence says no place; known are at_start_ns, "
                                               "at_dur_ns and at_op");
  }
  return {};
}

}  // namespace pitwall::rules
