// The ledger: each prediction of a rule with what was measured after, of all searches of this user.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall {

struct LedgerRow {
  std::int64_t unix_s = 0;  // when it was measured
  std::string machine;      // model of the processor
  std::string program;      // its name, without arguments
  std::string rule;         // that predicted
  std::string method;       // of the prediction
  std::string settings;     // "OMP_NUM_THREADS=4"
  // How many times as fast: predicted, and measured as the median ratio of pairs of runs with its interval.
  double predicted_low = 0, predicted_high = 0;
  double ratio = 0, low = 0, high = 0;
  std::int64_t pairs = 0;
  std::string conclusion;  // of the search: "kept", "no gain", ...
};

// $XDG_DATA_HOME/pitwall/ledger.sqlite, or ~/.local/share/pitwall/ledger.sqlite; "" when neither variable is an absolute path.
std::string ledgerPath();

// Adds the rows, all or none; makes the file and its folder. Two programs may add at once. Errors: io; invalidInput where the file
// is another program's.
Status addToLedger(const std::string& path, std::span<const LedgerRow> rows);

// All rows, oldest first; none where there is no file. Errors: as above; corruptTrace for a damaged file.
Result<std::vector<LedgerRow>> readLedger(const std::string& path);

// How often predictions of one rule were right.
struct LedgerSummary {
  std::string rule;  // "" = all rules together
  std::int64_t predictions = 0;
  std::int64_t held = 0;       // the measured ratio is within the predicted interval
  double median_error = 0;     // of |measured / middle of the predicted interval - 1|
  double median_measured = 1;  // how many times as fast
};

// By rule, in their order, and then all together; empty for no rows.
std::vector<LedgerSummary> summarizeLedger(std::span<const LedgerRow> rows);

}  // namespace pitwall
