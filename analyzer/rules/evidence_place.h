// Where on the timeline a row of evidence is, from its columns: "start_ns" and "dur_ns", "device", "rank", "thread", "pid",
// "tag" of memory, and "name" or "operator". Columns that begin with "at_" say it too, are not shown, and come before others: "at_start_ns",
// "at_dur_ns", "at_op".
#pragma once

#include <string>
#include <vector>

#include "analyzer/report.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::rules {

// Whether the column only says where its row is.
bool isPlaceColumn(const std::string& column);

EvidencePlace placeOf(const std::vector<std::string>& columns, const std::vector<SqlValue>& row);

// Error: invalidInput with `place`, that of the rule's text, for a column that begins with "at_" and says nothing known.
Status checkPlaceColumns(const std::vector<std::string>& columns, const std::string& place);

}  // namespace pitwall::rules
