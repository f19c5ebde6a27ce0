// What pairs asynchronous events and the ends of arrows.
#pragma once

#include <cstdint>

#include "db/import/chrome/chrome_event.h"

namespace pitwall::import {

// Equal for the events that belong together: by category, id and scope, in the old style by name too. 0: the
// event has no id.
std::uint64_t asyncKey(const ChromeEvent& event);

}  // namespace pitwall::import
