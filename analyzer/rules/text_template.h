// Sentences with numbers: "{share:%} of the time". A placeholder names a column of the rule's measure and,
// after a colon, how to show it:
//   (nothing)   as it is; reals with three significant digits
//   %           a share as percent: 0.312 -> "31.2 %"
//   ns          a duration with a fitting unit: 1234567 -> "1.23 ms"
//   bytes       a size with a fitting unit: 3145728 -> "3.0 MiB"
//   bytes/s     a rate of transfer: 55.6e9 -> "55.6 GB/s"
//   int         rounded
//   rate        with thousands separated: 12345.6 -> "12,346"
//   #noun       a count with its noun: 1 -> "1 noun", 3 -> "3 nouns"
#pragma once

#include <string>

#include "analyzer/rules/rule.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

// Expands a template over one row. Errors: invalidInput with the template's place for an unknown column or
// format.
Result<std::string> expand(const Text& text, const std::vector<std::string>& columns,
                           const std::vector<SqlValue>& row);

// Whether every placeholder names one of the columns and a known format. Same errors.
Status checkTemplate(const Text& text, const std::vector<std::string>& columns);

// A value as evidence tables show it, by its column's name: *_ns as a duration, *_bytes as a size, *share as
// percent, *bytes_per_second as a rate of transfer, other *per_second with thousands separated.
std::string showValue(const std::string& column, const SqlValue& value);

}  // namespace pitwall::rules
