// Texts and facts of events: names and arguments made clean, the facts of operators and kernels. The number
// of different ones is bounded for inputs of any size.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "db/import/build/tally.h"
#include "db/import/input/recent_texts.h"
#include "db/sink.h"

namespace pitwall::import {

class Names {
 public:
  // Called with the facts of each new operator.
  using NewOperator = std::function<void(OperatorId, const OperatorFacts&)>;

  Names(TraceSink& sink, Tally& tally, NewOperator new_operator)
      : sink_(sink), tally_(tally), new_operator_(std::move(new_operator)) {}

  StringId name(std::string_view text);  // with invalid UTF-8 replaced
  // The text of Event.args, a JSON object; none when there are too many distinct ones.
  StringId args(std::string_view object);
  // None when there are too many different ones.
  OperatorId facts(const OperatorFacts& facts);
  KernelId kernel(const KernelFacts& facts);

 private:
  StringId distinct(std::string_view text, std::string_view what);

  TraceSink& sink_;
  Tally& tally_;
  const NewOperator new_operator_;
  RecentTexts<StringId, 4096> recent_;
  std::unordered_map<std::string, OperatorId> facts_;
  StringId newest_text_;            // of the texts given to the sink
  std::size_t distinct_bytes_ = 0;  // of those texts
  std::size_t kernels_ = 0;         // different facts of kernels
};

}  // namespace pitwall::import
