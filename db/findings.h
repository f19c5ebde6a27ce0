// Stores findings in the trace file they are about, so that command and viewer show the same ones. Read them
// back with Trace::query over the tables finding, proposal and evidence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall {

// A row of the table finding with its proposals and evidence. Field values are documented in
// db/schema/schema.sql.
struct FindingRow {
  std::string id;  // of the rule, stable: "batch/can-grow"
  std::string title;
  std::string severity;  // "info", "low", "medium", "high"
  std::string verdict;   // one sentence with its numbers
  double gain_low = 0;   // predicted share of wall time removed, 0..1
  double gain_high = 0;
  std::string gain_method;
  std::string guard;                  // conditions under which it is wrong
  std::string status = "not tested";  // "not tested", "confirmed", "refuted"
  struct Proposal {
    std::string name;  // variable to set
    std::string current;
    std::string proposed;
    std::string reason;  // one line
  };
  std::vector<Proposal> proposals;
  std::vector<std::string> evidence;  // each one row as a JSON object
};

// Replaces all findings in the trace by these, in their order; all or, on an error, none. An incomplete trace
// stays marked incomplete, but its log is merged into the file. Errors: as Trace::open; io when the file
// cannot be written or is still being recorded.
Status saveFindings(const std::string& path, std::span<const FindingRow> findings);

}  // namespace pitwall
