// Exchanges between ranks: which rank came last to each, and how long the others waited.
//
// Exchanges of several ranks belong together when they have the same name and number. An exchange ends on all ranks at about the same
// time, so clocks of several hosts are aligned on the ends: starts are compared after the median difference of the ends is subtracted.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "analyzer/analysis/intervals.h"
#include "analyzer/analysis/window.h"

namespace pitwall::analysis {

struct Exchange {
  Interval time;
  TimeNs wait_ns = -1;  // until the last rank came; -1: not compared
  TimeNs late_ns = 0;   // after the first rank came
  bool is_last = false;
};

// Of one rank, by name and number.
using NumberedExchanges = std::map<std::pair<std::string, std::int64_t>, Exchange*>;

// Sets the last three of those in which all ranks take part at one moment: others are not the same exchange.
void compareExchanges(std::span<const NumberedExchanges> ranks);

bool beginsWithin(const Window& window, const Exchange& exchange);

}  // namespace pitwall::analysis
