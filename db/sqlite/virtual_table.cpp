#include "db/sqlite/virtual_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pitwall::store {

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

// A double as the nearest integer in the given direction, clamped to the range.
std::int64_t clamped(double value) {
  if (value >= 9223372036854775807.0) return kGreatest;
  if (value <= -9223372036854775808.0) return kLeast;
  return static_cast<std::int64_t>(value);
}

}  // namespace

void IntegerRange::narrow(unsigned char op, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) none = true;  // a comparison with NULL is never true
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  const bool real = type == SQLITE_FLOAT;
  const std::int64_t low =
      real ? clamped(std::floor(sqlite3_value_double(value))) : sqlite3_value_int64(value);
  const std::int64_t high = real ? clamped(std::ceil(sqlite3_value_double(value))) : low;
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      least = std::max(least, low);
      greatest = std::min(greatest, high);
      break;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE: least = std::max(least, low); break;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: greatest = std::min(greatest, high); break;
    default: break;
  }
  if (least > greatest) none = true;
}

Result<std::int64_t> integerArgument(sqlite3_value* value, std::string_view what) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT: return clamped(std::round(sqlite3_value_double(value)));
    default:
      return fail(ErrorCode::invalidInput,
                  fmt::format("{} must be a number, not '{}'", what,
                              reinterpret_cast<const char*>(sqlite3_value_text(value))));
  }
}

int planArguments(sqlite3_index_info& info, int first_hidden, int count) {
  int plan = 0;
  int arguments = 0;
  for (int k = 0; k < count; ++k) {
    bool unusable = false;
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& constraint = info.aConstraint[i];
      if (constraint.iColumn != first_hidden + k || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      if (!constraint.usable) {
        unusable = true;
      } else if ((plan & (1 << k)) == 0) {
        info.aConstraintUsage[i].argvIndex = ++arguments;
        info.aConstraintUsage[i].omit = 1;
        plan |= 1 << k;
      }
    }
    if (unusable && (plan & (1 << k)) == 0) return SQLITE_CONSTRAINT;
  }
  info.idxNum = plan;
  return SQLITE_OK;
}

sqlite3_value* argumentOf(int plan, std::span<sqlite3_value*> arguments, int k) {
  if ((plan & (1 << k)) == 0) return nullptr;
  std::size_t at = 0;
  for (int before = 0; before < k; ++before) at += (plan & (1 << before)) != 0 ? 1 : 0;
  sqlite3_value* value = arguments[at];
  return sqlite3_value_type(value) == SQLITE_NULL ? nullptr : value;
}

void resultText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

}  // namespace pitwall::store
