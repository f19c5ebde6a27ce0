// What the categories and names of events of PyTorch's profiler mean.
#pragma once

#include <cstdint>
#include <string_view>

#include "db/event.h"
#include "db/import/chrome/chrome_event.h"

namespace pitwall::import {

// The kind of the events of a category.
enum class KinetoRole : std::uint8_t {
  none,  // not a category of Kineto
  hostOperator,
  hostCall,
  kernel,
  copy,
  mtiaWork,
  deviceSync,
  deviceAnnotation,
  profilerRange,
  annotation,
  plain,
};
KinetoRole kinetoRoleOf(std::string_view category);

// Whether a kernel exchanges data between ranks.
bool isCollective(std::string_view kernel);

// For events without a category: operators have the namespace of their library, ranges of the program have
// none.
bool isOperatorName(std::string_view name);

// The phase of an operator, none where it is not known.
Phase phaseOfOperator(const ChromeEvent& event, std::string_view name);
// The phase of the operator at one end of an arrow from a forward operator to its gradient.
Phase phaseOfArrow(std::string_view category, int order);

}  // namespace pitwall::import
