// What the events of a report's timeline are, each distinct one once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/report_timeline.h"
#include "db/event.h"
#include "db/reader.h"

namespace pitwall::excerpt {

class Items {
 public:
  // `trace` outlives it.
  explicit Items(const Trace& trace) : trace_(trace) {}

  std::size_t of(EventKind kind, OperatorId op, StringId name);
  // A step of the critical path, by its part as in analysis_critical_step; after the events that it consists of.
  std::size_t ofStep(const std::string& part, const std::string& title);
  // Whether it is of that operator, or, where `op` is 0, of that name.
  bool is(std::size_t item, std::int64_t op, const std::string& name) const;
  std::vector<ReportTimeline::Item> take() && { return std::move(items_); }

 private:
  std::size_t add(ReportTimeline::Item item, OperatorId op);

  const Trace& trace_;
  std::vector<ReportTimeline::Item> items_;
  std::vector<OperatorId> operators_;  // of each item; none = it has none
  std::map<std::tuple<EventKind, std::uint32_t, std::uint32_t>, std::size_t> of_event_;
  std::map<std::pair<std::string, std::string>, std::size_t> of_step_;
  std::map<std::string, std::string> category_of_operator_;  // by text
};

}  // namespace pitwall::excerpt
