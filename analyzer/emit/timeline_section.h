// The timeline within a report's page: its frame, and its data for the page's script.
#pragma once

#include <set>
#include <string>

#include "analyzer/report_timeline.h"

namespace pitwall::emit {

// Empty for an empty timeline. At most about `most_bytes` long: short events and long names are left out until it fits.
std::string timelineSection(const ReportTimeline& timeline, std::size_t most_bytes);

// The name of a place in the page: "1.2" is the second row of evidence of the first finding.
std::string placeName(std::size_t finding, std::size_t evidence);
std::set<std::string> placeNames(const ReportTimeline& timeline);

}  // namespace pitwall::emit
